package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/maker-mdap/maker/temporal/internal/devserver"
)

// TestSecrets: what people and models say, and what goes wrong over it, is nowhere in what the
// server knows, and with a key nowhere in the store either.
func TestSecrets(t *testing.T) {
	// One word for each way on which something could get out.
	const task, answer, failure, file = "zqtaskzq", "zqanswerzq", "zqfailurezq", "zqfilezq"
	s := newSite(t, "MAKER_TEMPORAL_KEY_FILE=key")
	s.write("key", strings.Repeat("0f", 32)+"\n")
	s.write("secret.star", `def main(args):
    n = ask("Compute: 6 * 7. Keep `+task+` to yourself", number = True)
    said = human("What about `+task+`?")
    fail("`+failure+`: %d, %s" % (n, said))
`)
	worker := s.worker()
	start := s.begin("start", "--", "script", "secret.star")
	failed := nameOf(start.await("^run "))
	start.await("asks   What about " + task)
	s.do(0, "answer", failed, answer)
	stdout, _ := start.end(1)
	wants(t, stdout, failure+": 42, "+answer) // with the key all of it is there

	// A part that fails has its error in the history. It names a file that is gone.
	s.write(file+".yaml", "- match: nothing\n  answers: [{text: x}]\n")
	s.write("gone.star", "def main(args):\n    human(\"Ready?\")\n    return ask(\"Compute: 1 + 1\", number = True)\n")
	start = s.begin("start", "--", "script", "gone.star", "--model", "sim/default?script="+filepath.Join(s.dir, file+".yaml"))
	gone := nameOf(start.await("^run "))
	start.await("asks   Ready")
	if err := os.Remove(filepath.Join(s.dir, file+".yaml")); err != nil {
		t.Fatal(err)
	}
	s.do(0, "answer", gone, "yes")
	worker.await("lost or failed.*" + file)
	s.do(0, "cancel", gone)
	start.end(130)

	known := histories(t, s.server.Address, failed, gone)
	kept := contents(t, filepath.Join(s.dir, "store"))
	for _, word := range []string{task, answer, failure, file} {
		if bytes.Contains(known, []byte(word)) {
			t.Errorf("the server knows %q", word)
		}
		if bytes.Contains(kept, []byte(word)) {
			t.Errorf("the store has %q", word)
		}
	}
	if !bytes.Contains(known, []byte("maker/value")) || !bytes.Contains(kept, []byte("maker-sealed")) {
		t.Error("this is not what the server and the store have")
	}

	// Nobody reads it without the key, or with another one.
	s.write("other", strings.Repeat("0e", 32))
	_, stderr := s.do(2, "export", failed, "--key-file", "other")
	wants(t, stderr, "another key")
	s.env = append(s.env, "MAKER_TEMPORAL_KEY_FILE=")
	_, stderr = s.do(2, "follow", failed)
	wants(t, stderr, "is encrypted")
}

// histories are all that a server says about runs.
func histories(t *testing.T, address string, runs ...string) []byte {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Logger: devserver.Quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all []byte
	add := func(m proto.Message) {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for _, run := range runs {
		d, err := c.DescribeWorkflowExecution(t.Context(), run, "")
		if err != nil {
			t.Fatal(err)
		}
		add(d)
		events := 0
		for h := c.GetWorkflowHistory(t.Context(), run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); events++ {
			e, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			add(e)
		}
		if events < 10 {
			t.Errorf("%s has %d events", run, events)
		}
	}
	list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	add(list)
	return all
}

// contents are the names and contents of all files below a folder.
func contents(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(append(all, strings.TrimPrefix(path, dir)...), data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestErrors: what is wrong is named, with what to do.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	s := &site{t: t, dir: dir, env: append(os.Environ(), "MAKER_TEMPORAL_STORE="+filepath.Join(dir, "store"))}
	s.write("short", "00ff")
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no command":       {[]string{"run"}, 2, `there is no command "run"`},
		"no flag":          {[]string{"list", "--adress", "x"}, 2, "unknown flag.*see `maker-temporal list --help`"},
		"no server":        {[]string{"list", "--address", "127.0.0.1:1"}, 1, `(?s)127.0.0.1:1 \(--address\).*temporal server start-dev`},
		"no store":         {[]string{"worker", "--store", ""}, 2, "--store or MAKER_TEMPORAL_STORE"},
		"no key":           {[]string{"worker", "--key-file", "short"}, 2, "--key-file: short: want 32 bytes"},
		"half a pair":      {[]string{"list", "--tls-cert", "x"}, 2, "--tls-cert and --tls-key"},
		"no certificate":   {[]string{"list", "--tls-ca", "short"}, 2, "--tls-ca: there is no certificate in short"},
		"no run":           {[]string{"export", "solve-1"}, 2, `no run "solve-1"; .maker-temporal list.`},
		"nothing to start": {[]string{"start"}, 2, "start takes -- and a command of maker"},
		"no such command":  {[]string{"start", "--", "show", "last"}, 2, "maker show begins no run"},
		"a resume":         {[]string{"start", "--", "resume", "last"}, 2, "maker-temporal start RUN"},
		"a table":          {[]string{"start", "--", "map", "x.csv", "--out=y.csv"}, 2, "--out: .*export RUN"},
		"no home":          {[]string{"worker", "--home", "a b"}, 2, `--home: "a b"`},
		"no parts":         {[]string{"worker", "--parts", "0"}, 2, "--parts: 0 is too small"},
		"too many":         {[]string{"export", "a", "b", "c"}, 2, `takes RUN \[DIR\]`},
	} {
		_, stderr := s.do(test.code, test.args...)
		t.Log(name)
		wants(t, stderr, test.want)
	}
	s.env = append(s.env, "MAKER_TEMPORAL_PARTS=many")
	_, stderr := s.do(2, "worker")
	wants(t, stderr, "MAKER_TEMPORAL_PARTS")
	stdout, _ := s.do(0, "--version")
	wants(t, stdout, `^maker-temporal \S+, workflows of version \d+, go`)
}
