// Package family looks after a child process and all that descends from it, on
// Linux, for programs that do nothing else: the supervisors of commands and of tool
// servers.
//
// A process that calls [Adopt] becomes the parent of every descendant that loses
// its own. So nobody gets away by leaving its group or session, or by outliving the
// one who started it, and that there is no child left to wait for proves that nobody
// is left at all.
//
// The first process of a PID namespace is such a parent by nature, and can do more:
// it signals all others in one system call, in which nobody can slip away. Elsewhere
// the members are looked for, one by one, and stopped before they are killed, until
// nobody new is found.
package family
