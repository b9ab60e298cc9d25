package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/maker-mdap/maker/temporal/internal/claimcheck"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

const (
	askScript = `def main(args):
    n = ask("Compute: 6 * 7", number = True)
    name = "unnamed"
    if human("Double %d?" % n, ["yes", "no"]) == "yes":
        name = human("What shall it be called?")
        n = ask("Compute: %d * 2" % n, number = True)
    return "%s: %d" % (name, n)
`
	writeScript = `def main(args):
    call("Write", file_path = "out.txt", content = "hello\n")
    return "written"
`
	longScript = `def main(args):
    n = 0
    for i in range(12):
        n += ask("Compute: %d + 1" % i, number = True)
    return "the sum is %d" % n
`
	slow = "sim/default?p=0.9&latency=150ms"
)

// TestRuns does runs with one server and one worker.
func TestRuns(t *testing.T) {
	s := newSite(t)
	s.worker("--home", "here")
	here := []string{"start", "--home", "here"}
	for name, text := range map[string]string{"ask.star": askScript, "write.star": writeScript} {
		s.write(name, text)
	}
	sub := func(name string, f func(s *site)) {
		t.Run(name, func(t *testing.T) {
			of := *s
			of.t = t
			f(&of)
		})
	}
	sub("whole", func(s *site) {
		stdout, stderr := s.do(0, "start", "--", "solve", "Multiply 48163 by 729", "--domain", "math", "--model", "sim/default")
		wants(s.t, stdout, "^Multiply 48163 by 729: completed", "^  35110827$")
		wants(s.t, stderr, "^run solve-", "^step 0 .* done")
		run := nameOf(strings.Split(stderr, "\n")[0])
		s.replay(run)
		stdout, _ = s.do(0, "list")
		wants(s.t, stdout, "^"+run+" +completed .*Multiply")
		_, stderr = s.do(2, "start", run)
		wants(s.t, stderr, "is completed; look at it with")
		stdout, _ = s.do(0, "follow", run[:len(run)-2], "--json")
		wants(s.t, stdout, `^{"type":"task_submitted","seq":0,`, `^{"type":"result".*"completed"`)
		_, stderr = s.do(1, "export", run)
		wants(s.t, stderr, "is there already")
	})
	sub("questions", func(s *site) {
		stdout, _ := s.do(0, append(here, "--detach", "--", "script", "ask.star")...)
		run := nameOf(stdout)
		follow := s.begin("follow", run)
		follow.await(`asks   Double 42\?`)
		follow.await("answer with: maker-temporal answer " + run)
		stdout, stderr := s.do(5, "answer", run)
		wants(s.t, stdout, `Double 42\?`, `1\) yes`)
		wants(s.t, stderr, "^answer with: maker-temporal answer "+run+" .+ ")
		_, stderr = s.do(2, "answer", run, "perhaps")
		wants(s.t, stderr, "yes")
		stdout, _ = s.do(0, "list", "--json")
		wants(s.t, stdout, `"run":"`+run+`","state":"waiting".*"asks":\[.*Double 42`)
		s.do(0, "answer", run, "yes")
		follow.await(`asks   What shall it be called\?`)
		s.do(0, "answer", run, "the answer, doubled")
		stdout, _ = follow.end(0)
		wants(s.t, stdout, "^the answer, doubled: 84$")
		_, stderr = s.do(2, "answer", run)
		wants(s.t, stderr, "waits for no answer")
		s.replay(run)
	})
	sub("approval", func(s *site) {
		start := s.begin(append(here, "--", "script", "write.star")...)
		run := nameOf(start.await("^run "))
		start.await(`asks   May Write be called\?`)
		if _, err := os.Stat(filepath.Join(s.dir, "out.txt")); err == nil {
			s.t.Error("the file was written before anybody said yes")
		}
		stdout, _ := s.do(5, "answer", run)
		wants(s.t, stdout, "call   Write", `\+ hello`)
		s.do(0, "answer", run, "yes")
		stdout, _ = start.end(0)
		wants(s.t, stdout, "^written$")
		if got, err := os.ReadFile(filepath.Join(s.dir, "out.txt")); err != nil || string(got) != "hello\n" {
			s.t.Errorf("the file has %q, %v", got, err)
		}
		s.replay(run)
	})
	sub("cancelled, and on", func(s *site) {
		start := s.begin(append(here, "--", "script", "ask.star")...)
		run := nameOf(start.await("^run "))
		start.await("asks   Double")
		_, stderr := s.do(2, "start", run)
		wants(s.t, stderr, "goes on already; see it with")
		_, stderr = s.do(0, "cancel", run)
		wants(s.t, stderr, run+": cancelled")
		_, stderr = start.end(130)
		wants(s.t, stderr, "It goes on with: maker-temporal start "+run)
		start = s.begin(append(here, run)...)
		start.await("asks   Double")
		s.answerNew(run, "no")
		stdout, _ := start.end(0)
		wants(s.t, stdout, "^unnamed: 42$")
		s.replay(run)
	})
	sub("another version", func(s *site) {
		stdout, _ := s.do(0, append(here, "--detach", "--no-input", "--", "script", "ask.star")...)
		run := nameOf(stdout)
		s.do(5, "follow", run)
		s.execute(run, wire.Version+1)
		for _, command := range []string{"follow", "answer"} {
			_, stderr := s.do(2, command, run)
			wants(s.t, stderr, fmt.Sprintf("of version %d, and this program's are of version %d", wire.Version+1, wire.Version))
		}
		stdout, _ = s.do(0, "list")
		wants(s.t, stdout, "^"+run+" +(failed .*was begun by version|running)")
	})
	sub("a table", func(s *site) {
		s.write("sums.csv", "id,a\n1,2\n2,3\n3,4\n")
		stdout, stderr := s.do(0, "start", "--", "map", "sums.csv", "--prompt", "Compute: {{.a}} + 1", "--number")
		wants(s.t, stdout+stderr, "3 of 3 answered", "export map-")
		if strings.Contains(stdout+stderr, os.TempDir()) {
			s.t.Errorf("this points at a folder that is gone:\n%s%s", stdout, stderr)
		}
		run := nameOf(strings.Split(stderr, "\n")[0])
		s.replay(run)
		stdout, _ = s.program("maker", "show", run, "--out", "answers.csv").end(0)
		if table, err := os.ReadFile(filepath.Join(s.dir, "answers.csv")); err != nil || strings.Count(string(table), "\n") != 4 {
			s.t.Errorf("the table is %q, %v\n%s", table, err, stdout)
		}
	})
	sub("nobody there", func(s *site) {
		_, stderr := s.do(5, append(here, "--no-input", "--", "script", "ask.star")...)
		wants(s.t, stderr, "It goes on with: maker-temporal start script-")
	})
	sub("a home", func(s *site) {
		stdout, _ := s.do(0, "start", "--detach", "--home", "there", "--", "script", "write.star", "--approve", "none")
		run := nameOf(stdout)
		stdout, _ = s.do(0, "list")
		wants(s.t, stdout, "^"+run+" +idle .*no worker takes what is on maker@there")
		there := s.worker("--home", "there")
		stdout, _ = s.do(0, "follow", run)
		wants(s.t, stdout, "^written$")
		there.signal(syscall.SIGINT)
		there.end(0)
	})
	sub("from a folder", func(s *site) {
		s.program("maker", "script", "ask.star", "--no-input", "--log-dir", "runs").end(5)
		_, stderr := s.do(5, append(here, "--no-input", "last")...)
		run := nameOf(strings.Split(stderr, "\n")[0])
		if _, err := os.Stat(filepath.Join(s.dir, "runs", ".moved-"+run)); err != nil {
			s.t.Error(err)
		}
		_, stderr = s.program("maker", "resume", run).end(2)
		wants(s.t, stderr, "nothing in runs is called")
	})
}

// execute starts the workflow of a run as a program of another version would.
func (s *site) execute(run string, version int) {
	s.t.Helper()
	objects, err := store.Open(filepath.Join(s.dir, "store"))
	if err != nil {
		s.t.Fatal(err)
	}
	data, failures, err := claimcheck.Converters(objects)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := client.Dial(client.Options{HostPort: s.server.Address, DataConverter: data, FailureConverter: failures, Logger: devserver.Quiet{}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_, err = c.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{ID: run, TaskQueue: "maker@here", Memo: map[string]any{"maker_version": version}},
		runner.Workflow, runner.Input{Version: version, Run: run})
	if err != nil {
		s.t.Fatal(err)
	}
}

// answerNew answers what a run asks that has just been started again: as soon as it waits.
func (s *site) answerNew(run, text string) {
	s.t.Helper()
	for range 50 { // each takes its time
		p := s.begin("answer", run, text)
		<-p.ended
		if p.cmd.ProcessState.ExitCode() == 0 {
			return
		}
	}
	s.t.Errorf("%s does not take an answer", run)
}

// TestLostWorker: a worker is killed while it is at a run, and another one goes on.
func TestLostWorker(t *testing.T) {
	s := newSite(t, "MAKER_MODEL="+slow)
	s.write("long.star", longScript)
	first := s.worker()
	start := s.begin("start", "--", "script", "long.star")
	run := nameOf(start.await("^run "))
	start.await("^step 2 .*done")
	first.signal(syscall.SIGKILL)
	second := s.worker()
	stdout, _ := start.end(0)
	wants(t, stdout, "^the sum is 78$")
	second.await("lost or failed")
	s.replay(run)
}

// TestStoppedWorker: a worker is stopped while it is at a run. That loses nothing.
func TestStoppedWorker(t *testing.T) {
	s := newSite(t, "MAKER_MODEL="+slow)
	s.write("long.star", longScript)
	first := s.worker()
	start := s.begin("start", "--", "script", "long.star")
	run := nameOf(start.await("^run "))
	start.await("^step 2 .*done")
	first.signal(syscall.SIGTERM)
	first.await("goes on with other workers")
	first.end(0)
	second := s.worker()
	stdout, _ := start.end(0)
	wants(t, stdout, "^the sum is 78$")
	second.signal(syscall.SIGTERM)
	if _, stderr := second.end(0); strings.Contains(stderr, "lost or failed") {
		t.Errorf("a part was lost:\n%s", stderr)
	}
	s.replay(run)
}

// TestInterrupted: whoever follows a run may leave it; cancelled while a worker is at it, it ends,
// and goes on when it is started again.
func TestInterrupted(t *testing.T) {
	s := newSite(t, "MAKER_MODEL="+slow)
	s.write("long.star", longScript)
	s.worker()
	start := s.begin("start", "--", "script", "long.star")
	run := nameOf(start.await("^run "))
	start.await("^step 0 .*done")
	start.signal(syscall.SIGINT)
	_, stderr := start.end(130)
	wants(t, stderr, run+" goes on; see it with: maker-temporal follow "+run)
	follow := s.begin("follow", run)
	follow.await("^step 1 .*done")
	s.do(0, "cancel", run)
	stdout, _ := follow.end(130)
	wants(t, stdout, "reason +the run was cancelled")
	stdout, _ = s.do(0, "start", run)
	wants(t, stdout, "^the sum is 78$")
	s.replay(run)
}
