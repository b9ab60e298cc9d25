package scriptfile

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
)

func TestDescribe(t *testing.T) {
	call := func(what string, line, times int, from string) maker.RehearsedCall {
		return maker.RehearsedCall{What: what, File: "a.star", Line: line, Times: times, From: from}
	}
	write := maker.RehearsedMade{Tool: "Write", Input: json.RawMessage(`{"file_path":"a.txt","content":"abc"}`)}
	begun := write
	begun.Unknown = true
	many := make([]maker.RehearsedCall, 12)
	for i := range many {
		many[i] = call("ask", i+1, 1, "")
	}
	for name, test := range map[string]struct {
		r    maker.Rehearsal
		want []string
	}{
		"new": {
			maker.Rehearsal{
				New: []maker.RehearsedCall{call("ask", 12, 3, ""), call("call", 30, 1, "a.star:7")}, Open: []maker.RehearsedCall{call("human", 40, 1, "")},
				Unused: []maker.RehearsedMade{write}, Again: 1,
			},
			[]string{
				"new or changed: a.star:12 ask (3 times), a.star:30 call from a.star:7", "not done yet: a.star:40 human",
				"1 committed step comes to something else now: made again as steps of their own, with the answers that fit",
				"made, and not called for so far: Write a.txt (3 bytes)", "3 answers may fit further on: that depends on what is not there yet",
			},
		},
		"to the end": {
			maker.Rehearsal{Ends: true, Unused: []maker.RehearsedMade{write, begun}},
			[]string{
				"made, and not called for any more: Write a.txt (3 bytes)",
				"begun, and nobody knows whether it took effect, and not called for any more: Write a.txt (3 bytes)",
				"with what is recorded it comes to its end: nothing more is asked",
			},
		},
		"a failure": {maker.Rehearsal{Failure: "a.star:1:2 in f: no\n  called by a.star:3:4 in main"}, []string{"with what is recorded it fails: a.star:1:2 in f: no", "  called by a.star:3:4 in main"}},
		"chains": {
			maker.Rehearsal{Chains: []maker.RehearsedChain{
				{Key: "main/chain/0", Turns: 5000, Call: call("chain", 8, 0, "")}, {Key: "main/chain/1", Turns: 2},
				{Key: "main/chain/2", Turns: 1, Call: call("chain", 9, 0, ""), Other: true},
			}},
			[]string{
				"a.star:8 chain: 5,000 turns committed, which stay as they are; the edited script makes those that follow",
				"2 turns of main/chain/1, committed, and not called for so far",
				"a.star:9 chain: it begins with another state than the chain whose 1 turn is committed, and would go on after that all the same; if it is another chain, this run cannot go on with it",
				"3 answers may fit further on: that depends on what is not there yet",
			},
		},
		"many": {maker.Rehearsal{New: many, Ends: true}, []string{
			"new or changed: a.star:1 ask, a.star:2 ask, a.star:3 ask, a.star:4 ask, a.star:5 ask, a.star:6 ask, a.star:7 ask, a.star:8 ask, a.star:9 ask, a.star:10 ask, and 2 more",
			"with what is recorded it comes to its end: nothing more is asked",
		}},
	} {
		test.r.Answers.Used, test.r.Answers.Recorded = 17, 20
		var out strings.Builder
		Describe(&out, "a.star", &test.r)
		want := "a.star was edited: 17 of 20 recorded answers fit\n  " + strings.Join(test.want, "\n  ") + "\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEdited: nobody is asked about what is no edit, and without a yes there is no script.
func TestEdited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.star")
	if err := os.WriteFile(file, []byte("def main():\n    return 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		file             string
		changed, agreed  bool
		attended, answer bool
		asked, script    bool
		wrong            string
	}{
		"no file":            {},
		"the same":           {file: file, attended: true},
		"agreed":             {file: file, changed: true, agreed: true, script: true},
		"yes":                {file: file, changed: true, attended: true, answer: true, asked: true, script: true},
		"no":                 {file: file, changed: true, attended: true, asked: true, wrong: "nothing was changed"},
		"nobody":             {file: file, changed: true, wrong: "nobody is there to agree"},
		"agreed to nothing":  {agreed: true, wrong: "--yes agrees to an edited script"},
		"a file that is not": {file: file + "x", wrong: "a.starx"},
	} {
		asked := false
		a := App{
			Err: new(strings.Builder), Attended: test.attended, Usage: func(err error) error { return errors.Join(errUsage, err) },
			Confirm:  func(context.Context, string) (bool, error) { asked = true; return test.answer, nil },
			Rehearse: func(*maker.Script) (*maker.Rehearsal, error) { return &maker.Rehearsal{Changed: test.changed}, nil },
		}
		s, err := a.Edited(t.Context(), test.file, test.agreed)
		if (s != nil) != test.script || asked != test.asked {
			t.Errorf("%s: Edited() = %v after it asked: %t; want a script: %t, asked: %t", name, s, asked, test.script, test.asked)
		}
		if (err == nil) != (test.wrong == "") || err != nil && (!errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: Edited() = %v, want %q", name, err, test.wrong)
		}
	}
}

var errUsage = errors.New("usage")
