// Package family looks after a child process and all that descends from it, on
// Linux, for programs that do nothing else: the supervisors of commands and of tool
// servers.
//
// A process that calls [Adopt] becomes the parent of every descendant that loses
// its own. So nobody gets away by leaving its group or session, or by outliving the
// one who started it, and that there is no child left to wait for proves that nobody
// is left at all.
package family
