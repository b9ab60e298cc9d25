package maker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/runs"
)

// counting is a user's own family of tasks: it counts from 0, adding one a step.
// Render makes the output of a step from its number.
func counting(render func(n int) string) domain.Family {
	if render == nil {
		render = strconv.Itoa
	}
	return domain.Family{
		Name: "counting",
		Readers: domain.Readers{"number": func(json.RawMessage) (domain.Reader, error) {
			return numberReader(render), nil
		}},
		NewChain: func(params json.RawMessage) (domain.Chain, string, error) {
			var p countParams
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, "", err
			}
			return countChain{p, render}, fmt.Sprintf("Count to %d", p.To), nil
		},
	}
}

type countParams struct {
	To     int `json:"to"`
	NoGoal bool
}

type numberReader func(int) string

func (r numberReader) Read(text string) (domain.Answer, *redflag.Flag) {
	_, digits, ok := strings.Cut(text, "answer = ")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if !ok || err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "no number in %s", text)
	}
	return domain.Answer{Value: json.RawMessage(r(n)), Key: strconv.Itoa(n)}, nil
}

type countChain struct {
	countParams
	render func(int) string
}

func (c countChain) Steps() int { return c.To }

func (c countChain) Question(step int, previous json.RawMessage) (*flow.Question, error) {
	if step > 0 && !sameValue(previous, c.render(step)) {
		return nil, fmt.Errorf("the output before step %d is %.40s", step, previous)
	}
	return &flow.Question{Prompt: fmt.Sprintf("Compute: %d + 1", step), Answer: flow.Format{Reader: "number"}}, nil
}

func (c countChain) Check(step int, output json.RawMessage) error {
	if !sameValue(output, c.render(step+1)) {
		return fmt.Errorf("step %d counted to %.40s", step, output)
	}
	return nil
}

func (c countChain) Finish(last json.RawMessage) error {
	if c.NoGoal {
		return errors.New("this is not where the count was to end")
	}
	return nil
}

func sameValue(raw json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(raw, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && cmp.Equal(a, b)
}

// TestOwnFamily runs, stops and resumes a family that the engine has never heard
// of, with outputs of every kind that JSON allows.
func TestOwnFamily(t *testing.T) {
	tests := []struct {
		name   string
		render func(n int) string
	}{
		{"numbers", nil},
		{"text", func(n int) string { return fmt.Sprintf(`"the count is %d 🗼"`, n) }},
		{"larger than a line of the log", func(n int) string { return fmt.Sprintf(`"%d %s"`, n, strings.Repeat("x", 40_000)) }},
		{"indented", func(n int) string { return fmt.Sprintf("{\n  \"count\": %d\n}", n) }},
		{"like a stored value", func(n int) string { return fmt.Sprintf(`{"$sha256":"%d"}`, n) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts := maker.Options{
				LogDir: t.TempDir(), Families: []domain.Family{counting(test.render)},
				Config: maker.Config{Model: "sim/default?p=0.95&seed=1", MaxCalls: 40},
			}
			e := newEngine(t, opts)
			run, err := e.Chain(t.Context(), "counting", countParams{To: 30})
			if err != nil {
				t.Fatal(err)
			}
			r := mustResult(t, run)
			if r.Task != "Count to 30" || r.Kind != "counting" || r.Stop != "max_calls" || r.StepsCompleted == 0 {
				t.Fatalf("the first session = %q of kind %q, stop %q after %d steps (%s)", r.Task, r.Kind, r.Stop, r.StepsCompleted, r.Reason)
			}
			wantReplay(t, e, r.Run)

			stranger := newEngine(t, maker.Options{LogDir: opts.LogDir})
			if _, err := stranger.Resume(t.Context(), r.Run, nil); err == nil || !strings.Contains(err.Error(), `"counting"`) {
				t.Errorf("Resume(a family that the engine does not have) = %v, want an error that names it", err)
			}
			if replay, err := stranger.Replay(r.Run); err != nil || len(replay.Differences) > 0 {
				t.Errorf("Replay(a family that the engine does not have) = %+v, %v, want no differences", replay, err)
			}

			// A new engine, as a new process would have.
			e = newEngine(t, opts)
			after := resume(t, e, r.Run, func(c *maker.Config) { c.MaxCalls = 0 })
			if after.Status != event.StatusCompleted || after.StepsCompleted != 30 {
				t.Errorf("resumed: %s with %d steps (%s), want completed with 30", after.Status, after.StepsCompleted, after.Reason)
			}
			wantReplay(t, e, r.Run)
		})
	}
}

func TestOwnFamilyThatMissesItsGoal(t *testing.T) {
	e := newEngine(t, maker.Options{Families: []domain.Family{counting(nil)}})
	run, err := e.Chain(t.Context(), "counting", countParams{To: 3, NoGoal: true})
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, run)
	if r.Status != event.StatusFailed || !r.Wrong || r.Reason != "this is not where the count was to end" || r.StepsCompleted != 3 {
		t.Errorf("a chain that misses its goal = %s, wrong %t, %q, want failed, with its own words", r.Status, r.Wrong, r.Reason)
	}
	wantReplay(t, e, r.Run)
}

// TestOwnFamilyThatBreaks has a family whose reader cannot be made, and one that
// cannot ask: the run fails and says why.
func TestOwnFamilyThatBreaks(t *testing.T) {
	noReader := counting(nil)
	noReader.Readers = nil
	badReader := counting(nil)
	badReader.Readers = domain.Readers{"number": func(json.RawMessage) (domain.Reader, error) { return nil, errors.New("no format") }}
	badQuestion := counting(nil)
	badQuestion.NewChain = func(json.RawMessage) (domain.Chain, string, error) {
		return speechless{countChain{countParams{To: 3}, strconv.Itoa}}, "Say nothing", nil
	}
	for want, family := range map[string]domain.Family{
		`no reader is called "number"`: noReader, "no format": badReader, "lost for words": badQuestion,
	} {
		e := newEngine(t, maker.Options{Families: []domain.Family{family}})
		run, err := e.Chain(t.Context(), "counting", countParams{To: 3})
		if err != nil {
			t.Fatal(err)
		}
		if r := mustResult(t, run); r.Status != event.StatusFailed || !strings.Contains(r.Reason, want) {
			t.Errorf("a broken family = %s, %q, want failed and %q", r.Status, r.Reason, want)
		}
	}
}

type speechless struct{ countChain }

func (speechless) Question(int, json.RawMessage) (*flow.Question, error) {
	return nil, errors.New("lost for words")
}

// TestFamilyNames: a family whose runs could not be told from others, or would be
// written elsewhere than into the log folder, is refused.
func TestFamilyNames(t *testing.T) {
	families := func(names ...string) []domain.Family {
		var list []domain.Family
		for _, name := range names {
			list = append(list, domain.Family{Name: name})
		}
		return list
	}
	for _, name := range []string{"counting", "a", "Count_2", "my-tasks.v2", "_x", strings.Repeat("x", 64)} {
		if _, err := maker.New(&maker.Options{Families: families(name)}); err != nil {
			t.Errorf("New(family %q) = %v, want nil", name, err)
		}
	}
	bad := [][]string{
		{""}, {"../../escaped"}, {"a/b"}, {`a\b`}, {".hidden"}, {".."}, {"-flag"}, {"two words"}, {"line\n"}, {"ünicode"}, {"nul\x00"},
		{strings.Repeat("x", 65)},
		{"hanoi"}, {"twice", "twice"},
	}
	for _, kind := range []string{
		maker.KindRun, maker.KindPlan, maker.KindExec, maker.KindValidate, maker.KindDo, maker.KindSolve, maker.KindCalibrate,
	} {
		bad = append(bad, []string{kind})
	}
	for _, names := range bad {
		_, err := maker.New(&maker.Options{Families: families(names...)})
		wrong, ok := errors.AsType[*maker.ConfigError](err)
		if !ok || wrong.Field != "families" || !strings.Contains(err.Error(), strconv.Quote(names[0])) {
			t.Errorf("New(families %q) = %v, want a ConfigError about families that names it", names, err)
		}
	}
}

// endChecked is a chain whose end is checked by code, and none of its steps.
type endChecked struct{ doubling }

func (endChecked) Checks() (steps, last bool) { return false, true }

func (c endChecked) Finish(output json.RawMessage) error {
	if string(output) != fmt.Sprint(1<<c.Times) {
		return fmt.Errorf("%s is not 2 to the %d", output, c.Times)
	}
	return nil
}

// TestEndIsChecked: a check of the final state is part of what a run proved, and of no other.
func TestEndIsChecked(t *testing.T) {
	family := domain.Family{
		Name:    "checked",
		Readers: domain.Readers{"number": func(json.RawMessage) (domain.Reader, error) { return number{}, nil }},
		NewChain: func(params json.RawMessage) (domain.Chain, string, error) {
			var d doubling
			err := json.Unmarshal(params, &d)
			return endChecked{d}, "Double", err
		},
	}
	e, err := maker.New(&maker.Options{
		LogDir: t.TempDir(), Families: []domain.Family{family}, Config: maker.Config{Model: "sim/default", Voting: maker.FirstToK(3)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run, err := e.Chain(t.Context(), "checked", doubling{Times: 10})
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Result()
	if err != nil || r.Status != event.StatusCompleted || string(r.Output.JSON) != "1024" {
		t.Fatalf("Result() = %+v, %v", r, err)
	}
	kept, err := runs.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := kept.Certify()
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(c.Says, "\n"); !strings.Contains(said, "last output") {
		t.Errorf("the certificate says\n%s\nwant that the last output was checked", said)
	}
}
