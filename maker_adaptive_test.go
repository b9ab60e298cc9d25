package maker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// adaptive is an engine whose margins adapt.
func adaptive(t *testing.T, dir, model string, change func(*maker.Config)) *maker.Engine {
	t.Helper()
	cfg := maker.Config{Model: model, Voting: vote.Rule{Strategy: vote.Adaptive}}
	if change != nil {
		change(&cfg)
	}
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func solved(t *testing.T, engine *maker.Engine, p hanoi.Params) *maker.Result {
	t.Helper()
	run, err := engine.Chain(t.Context(), hanoi.Name, p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAdaptiveRunsAreRight: with one step in a hundred at .7, a run of a thousand steps at
// k = 3 is right about every other time.
func TestAdaptiveRunsAreRight(t *testing.T) {
	seeds := 200
	if raceDetector || testing.Short() {
		seeds = 40
	}
	runs := seeds
	var right, votes [2]float64
	for i, rule := range []vote.Rule{{Strategy: vote.Adaptive}, maker.FirstToK(3)} {
		if i == 1 {
			seeds /= 4 // enough to see the difference
		}
		for seed := range seeds {
			engine := adaptive(t, t.TempDir(), fmt.Sprintf("sim/default?hard=0.01:0.7&seed=%d", seed+1), func(c *maker.Config) { c.Voting = rule })
			r := solved(t, engine, hanoi.Params{Disks: 10, NoCheck: true})
			if r.Status == event.StatusCompleted {
				right[i]++
			}
			votes[i] += float64(r.Voting.Samples) / float64(r.StepsCompleted)
		}
		right[i] /= float64(seeds)
		votes[i] /= float64(seeds)
	}
	t.Logf("of %d runs (a fourth of them with k = 3) %.3f are right with %.2f votes a step; with k = 3 %.3f with %.2f", runs, right[0], votes[0], right[1], votes[1])
	least := .95 - 3*math.Sqrt(.95*.05/float64(runs))
	if right[0] < least || votes[0] > 7 || right[1] > .75 {
		t.Errorf("%.3f of the runs are right, want %.3f, with %.2f votes a step, want at most 7; with k = 3 %.3f are", right[0], least, votes[0], right[1])
	}
}

// linesOf are the lines of a log.
func linesOf(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
}

// policiesOf are the policies in a log, without what differs from session to session.
func policiesOf(t *testing.T, run *runs.Run) []string {
	t.Helper()
	var list []string
	for rec, err := range run.Events(0) {
		if err != nil {
			t.Fatal(err)
		}
		switch rec.Event.(type) {
		case event.PolicyChanged, event.PolicyFutile:
			data, err := json.Marshal(rec.Event)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, string(data))
		}
	}
	return list
}

// TestAdaptiveOverCrashes: wherever a run is killed, it goes on with the policies that it
// would have had, to the byte, and the log is sound.
func TestAdaptiveOverCrashes(t *testing.T) {
	const model = "sim/default?hard=0.1:0.75&malformed=0.02&seed=3"
	root := t.TempDir()
	whole := solved(t, adaptive(t, root, model, nil), hanoi.Params{Disks: 6})
	lines := linesOf(t, filepath.Join(root, whole.Run))
	first, err := runs.Open(filepath.Join(root, whole.Run))
	if err != nil {
		t.Fatal(err)
	}
	want := policiesOf(t, first)
	if len(want) < 10 || whole.Status != event.StatusCompleted {
		t.Fatalf("the run is %s with %d policies, want it completed with some", whole.Status, len(want))
	}
	every := 1
	if raceDetector || testing.Short() {
		every = 9
	}
	for n := 1; n < len(lines)-1; n += every {
		r, again := resumeAfter(t, func(dir string) *maker.Engine { return adaptive(t, dir, model, nil) }, whole.Run, lines[:n])
		if r.Status != event.StatusCompleted {
			t.Fatalf("killed after %d lines: %+v", n, r)
		}
		got := policiesOf(t, again)
		if strings.Contains(lines[n-1], `"type":"agent_sample_`) {
			// A simulator that starts anew answers the rest of a vote differently, so that
			// the run is another one from here on.
			known := 0
			for _, line := range lines[:n] {
				if strings.Contains(line, `"type":"policy_changed"`) {
					known++
				}
			}
			got = append(got[:known:known], want[known:]...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("killed after %d lines (%s): the policies are others (-want +got):\n%s", n, lines[n-1], diff)
		}
		if replay, err := again.Replay(nil); err != nil || len(replay.Differences) > 0 {
			t.Fatalf("killed after %d lines: the replay says %v, %v", n, replay, err)
		}
	}
}

// TestAdaptiveRunsOfAllKindsGoOn: so does a plan, a task, a list of tasks and a problem.
func TestAdaptiveRunsOfAllKindsGoOn(t *testing.T) {
	rules := rulesFile(t, `[{"match": "Say (\\w+)", "right": {"text": "done: true"}, "wrong": [{"text": "done: false"}]},
		{"match": "Tell (\\w+)", "right": {"text": "result: ${1}"}, "wrong": [{"text": "result: no"}]},
		{"match": "Count", "right": {"text": "result: 7"}, "wrong": [{"text": "result: 8"}]}]`) + "&p=0.9&seed=2"
	for name, c := range map[string]struct {
		model string
		begin starter
	}{
		"exec": {rules, execPlan("Say one", "Say two", "Say three", "Say four")},
		"run":  {rules, func(e *maker.Engine, ctx context.Context) (*maker.Run, error) { return e.Run(ctx, "Count.") }},
		"do": {rules, func(e *maker.Engine, ctx context.Context) (*maker.Run, error) {
			return e.Do(ctx, "Tell one. Tell two. Tell three.")
		}},
		"solve": {"sim/default?p=0.95&seed=4", func(e *maker.Engine, ctx context.Context) (*maker.Run, error) {
			return e.Solve(ctx, "What is 2 + 3 * 4?")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			engine := func(dir string) *maker.Engine {
				return newEngine(t, maker.Options{
					LogDir: dir, Config: maker.Config{Model: c.model, Voting: vote.Rule{Strategy: vote.Adaptive}, Solve: maker.SolveConfig{Domain: maker.DomainMath},
						Tools: maker.ToolConfig{Workspace: t.TempDir(), Approve: "none"}},
					Modules: func(m maker.Modules) []flow.Module { m.Planner = oneStep{}; return m.List() },
				})
			}
			root := t.TempDir()
			begun, err := c.begin(engine(root), t.Context())
			if err != nil {
				t.Fatal(err)
			}
			whole := mustResult(t, begun)
			lines := linesOf(t, begun.Dir())
			policies := 0
			for n := 1; n < len(lines)-1; n++ {
				if strings.Contains(lines[n-1], `"type":"policy_changed"`) {
					policies++
				}
				if n%15 > 0 && !strings.Contains(lines[n-1], `"type":"policy_changed"`) {
					continue
				}
				r, again := resumeAfter(t, engine, whole.Run, lines[:n])
				if r.Status != event.StatusCompleted || len(policiesOf(t, again)) < policies {
					t.Fatalf("killed after %d lines: %s (%s)", n, r.Status, r.Reason)
				}
				if replay, err := again.Replay(nil); err != nil || len(replay.Differences) > 0 {
					t.Fatalf("killed after %d lines: the replay says %v, %v", n, replay, err)
				}
			}
			if whole.Status != event.StatusCompleted || policies == 0 {
				t.Errorf("the whole run is %s (%s) with %d policies", whole.Status, whole.Reason, policies)
			}
		})
	}
}

// TestReplayCountsByTheMarginsOfTheLog: a step that won by less than the policy in force
// asked for is found, and so is a policy that is missing.
func TestReplayCountsByTheMarginsOfTheLog(t *testing.T) {
	root := t.TempDir()
	r := solved(t, adaptive(t, root, "sim/default?p=1", nil), hanoi.Params{Disks: 5})
	path := filepath.Join(root, r.Run, "events.jsonl")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"as it is", "", "", ""},
		{"other margins", `"why":"start","epoch":1,"races":0,"margins":[7,`, `"why":"start","epoch":1,"races":0,"margins":[9,`, "policy 1 asks for"},
		{"another number", `"policy":2,"class":"hanoi"`, `"policy":7,"class":"hanoi"`, "policy 7 comes where policy 2 belongs"},
	} {
		changed := bytes.Replace(log, []byte(c.from), []byte(c.to), 1)
		if c.from != "" && bytes.Equal(changed, log) {
			t.Fatalf("%s: the log has no %s:\n%s", c.name, c.from, log[:1000])
		}
		if err := os.WriteFile(path, unsealed(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		run, err := runs.Open(filepath.Join(root, r.Run))
		if err != nil {
			t.Fatal(err)
		}
		replay, err := run.Replay(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(replay.Differences, "\n"); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: the replay says %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFutileRunsStop: where many steps are near ties a long run is given up early, unless
// it is told to go on, and says so again when it is resumed.
func TestFutileRunsStop(t *testing.T) {
	engine := adaptive(t, t.TempDir(), "sim/default?hard=0.05:0.6&seed=1", func(c *maker.Config) { c.Voting.MaxSamples = 5000 })
	r := solved(t, engine, hanoi.Params{Disks: 20})
	if r.Stop != event.StopFutile || r.StepsCompleted > (1<<20)/1000 || !strings.Contains(r.Reason, "more votes will not make this run right") {
		t.Fatalf("%s (%s) after %d steps: %s; want it given up within 1,000", r.Status, r.Stop, r.StepsCompleted, r.Reason)
	}
	t.Logf("after %d steps: %s", r.StepsCompleted, r.Reason)
	for _, c := range []struct {
		on   string
		stop string
		more int
	}{{"stop", event.StopFutile, 0}, {"warn", "max_calls", 1}} {
		run, err := engine.Resume(t.Context(), r.Run, &maker.ResumeOptions{Change: func(cfg *maker.Config) {
			cfg.OnFutile, cfg.MaxCalls = c.on, r.Usage.Calls+3000
		}})
		if err != nil {
			t.Fatal(err)
		}
		again, err := run.Result()
		if err != nil || again.Stop != c.stop || again.StepsCompleted < r.StepsCompleted+c.more || c.more == 0 && again.StepsCompleted > r.StepsCompleted {
			t.Errorf("resumed with %s: stopped by %q after %d steps (%v), want %q", c.on, again.Stop, again.StepsCompleted, err, c.stop)
		}
	}
}

// TestFollowersEndEarly: where samples follow one opinion, most long runs end within a
// hundredth of their steps, at a step over which voters are split, and say so. In some of
// them a wrong majority leads into a circle of easy questions first, which no vote can
// see: that is what the truth part of a certificate is for.
func TestFollowersEndEarly(t *testing.T) {
	seeds := 10
	if raceDetector {
		seeds = 2
	}
	early := 0
	for seed := range seeds {
		engine := adaptive(t, t.TempDir(), fmt.Sprintf("sim/default?rho=0.6&seed=%d", seed+1), func(c *maker.Config) { c.MaxCalls = 100_000 })
		r := solved(t, engine, hanoi.Params{Disks: 20, NoCheck: true})
		t.Logf("seed %d: %s (%s) after %d steps: %s", seed+1, r.Status, r.Stop, r.StepsCompleted, r.Reason)
		if r.StepsCompleted < (1<<20)/100 && r.Stop != "max_calls" {
			early++
		}
		if r.Status == event.StatusUndecided && !strings.Contains(r.Reason, "near tie") {
			t.Errorf("seed %d: %s, want it to say why", seed+1, r.Reason)
		}
	}
	if early < seeds/2 {
		t.Errorf("%d of %d runs ended early", early, seeds)
	}
}

// unsealed takes the checksums off lines, as somebody who changes a log would.
func unsealed(log []byte) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		if i := bytes.LastIndex(line, []byte(`,"crc":"`)); i >= 0 {
			line = append(line[:i:i], '}', '\n')
		}
		out = append(out, line...)
	}
	return out
}

// TestLongChainsOfOnesOwnAdapt: unless somebody says otherwise, a long chain of a user's
// family votes with margins that adapt; the paper's task votes as the paper does.
func TestLongChainsOfOnesOwnAdapt(t *testing.T) {
	for _, c := range []struct {
		name   string
		family string
		params any
		rule   vote.Rule
		want   vote.Strategy
	}{
		{"long", "counting", countParams{To: 150}, vote.Rule{}, vote.Adaptive},
		{"short", "counting", countParams{To: 20}, vote.Rule{}, vote.FirstToK},
		{"long, with a rule", "counting", countParams{To: 150}, maker.FirstToK(2), vote.FirstToK},
		{"the paper's", hanoi.Name, hanoi.Params{Disks: 8}, vote.Rule{}, vote.FirstToK},
	} {
		e := newEngine(t, maker.Options{LogDir: t.TempDir(), Families: []domain.Family{counting(nil)}, Config: maker.Config{Model: stuck, Voting: c.rule}})
		ctx, cancel := context.WithCancel(t.Context())
		run, err := e.Chain(ctx, c.family, c.params)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := run.Rule(); got.Strategy != c.want || got.Strategy == vote.Adaptive && (got.Target != .05 || got.MaxSamples < 150) {
			t.Errorf("%s: the rule is %+v, want %s", c.name, got, c.want)
		}
		cancel()
		mustResult(t, run)
	}
}

// resumeAfter resumes a run of whose log only some lines are left, as a kill leaves it, in
// a folder of its own.
func resumeAfter(t *testing.T, engine func(dir string) *maker.Engine, id string, lines []string) (*maker.Result, *runs.Run) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, id)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "events.jsonl"), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	run, err := engine(dir).Resume(t.Context(), id, nil)
	if err != nil {
		t.Fatalf("killed after %d lines: %v", len(lines), err)
	}
	result, err := run.Result()
	if err != nil {
		t.Fatalf("killed after %d lines: %v", len(lines), err)
	}
	again, err := runs.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return result, again
}
