package maker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// These tests are about samples that were paid for when a session ended.

// A clerk carries requests to a simulator, as a provider would get them: it outlives
// the sessions of a run, knows how often each question was answered, and can hold a
// request back.
type clerk struct {
	server http.Handler
	topic  *regexp.Regexp

	mu       sync.Mutex
	requests int
	answers  map[string]int
	hold     func(ctx context.Context, n int, question string) error
}

// newClerk has model, a name, answer the requests. The first group of topic is what a
// prompt is called by.
func newClerk(t *testing.T, model, topic string) *clerk {
	t.Helper()
	settings, err := sim.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	server, err := simserver.Handler(simserver.Options{Default: settings})
	if err != nil {
		t.Fatal(err)
	}
	return &clerk{server: server, topic: regexp.MustCompile(topic), answers: map[string]int{}}
}

// What prompts are called by.
const (
	stepTopic  = `(?:# Step|# What to do|# The step|# Your step|Please do this one thing:)\n\n(.*)`
	hanoiTopic = `(?s).*Current state: ([^\n]*)`
	solveTopic = `"ask":("\w+","problem":"\w+")`
)

// behind sets options up for a model with a price whose requests the clerk carries.
func (c *clerk) behind(o maker.Options) maker.Options {
	o.Config.Model, o.Transport = "openai/gpt-4.1-mini", c
	o.Env = func(name string) string { return map[string]string{"OPENAI_API_KEY": "a-key-of-the-clerk"}[name] }
	return o
}

// holdBack has f called with each request from now on, the n-th one about a question.
// An error of f is what becomes of the request.
func (c *clerk) holdBack(f func(ctx context.Context, n int, question string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = f
}

// holdNth holds the n-th request back for as long as its sender waits.
func (c *clerk) holdNth(n int) {
	c.holdBack(func(ctx context.Context, i int, _ string) error {
		if i != n {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
}

// answered is how often each question was answered so far.
func (c *clerk) answered() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for question, n := range c.answers {
		all[question] = n
	}
	return all
}

func (c *clerk) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	question, err := c.question(body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.requests++
	n, hold := c.requests, c.hold
	c.mu.Unlock()
	if hold != nil {
		if err := hold(req.Context(), n, question); err != nil {
			return nil, err
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	passed := req.Clone(context.WithoutCancel(req.Context())) // a server hangs up on a sender who has gone, as a panic
	passed.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	c.server.ServeHTTP(answer, passed)
	c.mu.Lock()
	c.answers[question]++
	c.mu.Unlock()
	return answer.Result(), nil
}

// question names what a request asks: its topic, and how many calls were made before.
func (c *clerk) question(body []byte) (string, error) {
	var request struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return "", err
	}
	topic, made := "", 0
	for _, m := range request.Messages {
		text, _ := m.Content.(string)
		switch m.Role {
		case "tool":
			made++
		case "user":
			if found := c.topic.FindStringSubmatch(text); found != nil {
				topic = found[1]
			}
		}
	}
	if topic == "" {
		return "", fmt.Errorf("the request is about nothing that is known: %s", body)
	}
	if made > 0 {
		topic = fmt.Sprintf("%s, after %d calls", topic, made)
	}
	return topic, nil
}

// A starter begins a run.
type starter func(e *maker.Engine, ctx context.Context) (*maker.Run, error)

func execPlan(steps ...string) starter {
	return func(e *maker.Engine, ctx context.Context) (*maker.Run, error) { return e.Exec(ctx, planOf(steps...)) }
}

// A session that ended in the middle of a vote left samples behind that were paid for
// and well: the next session threw them away and asked for all of them again. With
// them went what they said against the winner.
func TestAnInterruptedVoteGoesOn(t *testing.T) {
	const kill = "killed" // without the time for a last word
	twoDisks := func(e *maker.Engine, ctx context.Context) (*maker.Run, error) {
		return e.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 2})
	}
	for _, test := range []struct {
		name    string
		begin   starter
		model   string
		topic   string
		k       int
		batch   int
		full    bool           // log
		last    int            // the request that the first session does not get an answer to
		want    map[string]int // answers to each question in the end
		flagged int
	}{
		{
			name: "plan", begin: execPlan("Say one", "Say two"), topic: stepTopic, k: 3,
			model: following(t, says("Say", "done: true")), last: 6, want: map[string]int{"Say one": 3, "Say two": 3},
		},
		{
			name: "first step of a plan", begin: execPlan("Say one"), topic: stepTopic, k: 3,
			model: following(t, says("Say", "done: true")), last: 3, want: map[string]int{"Say one": 3},
		},
		{
			name: "effect", begin: execPlan("Book a table | Book"), topic: stepTopic, k: 3,
			model: following(t, partyRules...), last: 3, want: map[string]int{"Book a table": 3, "Book a table, after 1 calls": 3},
		},
		{
			name: "after an effect", begin: execPlan("Book a table | Book"), topic: stepTopic, k: 3,
			model: following(t, partyRules...), last: 6, want: map[string]int{"Book a table": 3, "Book a table, after 1 calls": 3},
		},
		{
			name: "contested", begin: execPlan("Say one"), topic: stepTopic, k: 2, batch: 1,
			model: following(t, says("Say", "done: false", "Not in this form: [", "done: true")), last: 5,
			want: map[string]int{"Say one": 5}, flagged: 1,
		},
		{
			name: "chain", begin: twoDisks, topic: hanoiTopic, k: 3, model: perfect, last: 6,
			want: map[string]int{"[[2, 1], [], []]": 3, "[[2], [1], []]": 3, "[[], [1], [2]]": 3},
		},
		{
			name: "chain with a full log", begin: twoDisks, topic: hanoiTopic, k: 3, model: perfect, full: true, last: 6,
			want: map[string]int{"[[2, 1], [], []]": 3, "[[2], [1], []]": 3, "[[], [1], [2]]": 3},
		},
	} {
		for _, stop := range []string{event.StopCancelled, "max_calls", "deadline", kill} {
			if stop == kill && test.name == "chain" {
				continue // its log has the samples of contested votes only
			}
			t.Run(test.name+" "+stop, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					book, clerk := &witness{}, newClerk(t, test.model, test.topic)
					opts := clerk.behind(maker.Options{
						LogDir: t.TempDir(), Tools: []tool.Tool{book.tool(t, "Book", tool.Mutate)},
						Config: maker.Config{
							Voting: maker.FirstToK(test.k), BatchSize: test.batch, FullLog: test.full,
							Plan:  maker.PlanConfig{Repair: "off"},
							Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()},
						},
					})
					switch stop {
					case event.StopCancelled, kill:
						clerk.holdNth(test.last)
					case "max_calls":
						opts.Config.MaxCalls = int64(test.last) - 1
					case "deadline":
						clerk.holdNth(test.last)
						opts.Config.Deadline = time.Second
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					e := newEngine(t, opts)
					run, err := test.begin(e, ctx)
					if err != nil {
						t.Fatal(err)
					}
					wantStop := stop
					if stop == event.StopCancelled || stop == kill {
						wantStop = event.StopCancelled
						synctest.Wait() // until nothing moves but for the request that is held back
						cancel(maker.ErrInterrupted)
					}
					r := mustResult(t, run)
					if given := sum(clerk.answered()); r.Stop != wantStop || given != test.last-1 {
						t.Fatalf("the first session = %s by %q (%s) after %d answers, want it stopped by %s after %d", r.Status, r.Stop, r.Reason, given, wantStop, test.last-1)
					}
					if stop == kill {
						cutBehindSamples(t, run.Dir())
					} else {
						wantReplay(t, e, run.ID())
					}

					clerk.holdBack(nil)
					r = resume(t, e, run.ID(), func(c *maker.Config) { c.MaxCalls, c.Deadline = 0, 0 })
					if r.Status != event.StatusCompleted {
						t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
					}
					if diff := cmp.Diff(test.want, clerk.answered()); diff != "" {
						t.Errorf("answers by question in both sessions: -want +got\n%s", diff)
					}
					if n := book.calls.Load(); strings.Contains(test.name, "effect") && n != 1 {
						t.Errorf("the effect happened %d times, want once", n)
					}
					wantAllCounted(t, r, sum(test.want), test.flagged)
					if got, want := r.Usage.Calls-r.Usage.Abandoned, int64(sum(test.want)); stop != kill && got != want {
						t.Errorf("Usage = %d calls that were answered, want %d", got, want)
					}
					wantReplay(t, e, run.ID())
				})
			})
		}
	}
}

func sum(counts map[string]int) int {
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

// cutBehindSamples leaves a log as a kill does right after its last sample.
func cutBehindSamples(t *testing.T, dir string) {
	t.Helper()
	lines := logLines(t, dir)
	for len(lines) > 0 && !strings.HasPrefix(lines[len(lines)-1], `{"type":"agent_sample_`) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		t.Fatalf("the log in %s has no sample", dir)
	}
	if err := os.WriteFile(filepath.Join(dir, runlog.EventsFile), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runs.ResultFile, runs.SummaryFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// wantAllCounted checks that the steps of a result are made of all answers that were
// paid for.
func wantAllCounted(t *testing.T, r *maker.Result, samples, flagged int) {
	t.Helper()
	cost := 0.0
	for _, s := range r.Steps {
		if s.CostUSD == nil {
			t.Fatalf("step %d costs nobody knows what, want a cost", s.Step)
		}
		cost += *s.CostUSD
	}
	if r.Voting.Samples != samples || r.Voting.RedFlagged != flagged {
		t.Errorf("Voting = %d samples, %d red flags, want %d and %d", r.Voting.Samples, r.Voting.RedFlagged, samples, flagged)
	}
	if r.TotalCostUSD == nil {
		t.Errorf("TotalCostUSD = nil, want %v", cost)
	} else if total := *r.TotalCostUSD; cost == 0 || math.Abs(total-cost) > 1e-12 {
		t.Errorf("TotalCostUSD = %v, want the %v that the steps cost together", total, cost)
	}
}

// A budget that is raised call by call is enough: each session adds its sample to
// those of the sessions before. Each began anew, and the vote never ended.
func TestAVoteMayTakeManySessions(t *testing.T) {
	clerk := newClerk(t, following(t, says("Say", "done: true")), stepTopic)
	e := newEngine(t, clerk.behind(maker.Options{Config: maker.Config{
		Voting: maker.FirstToK(3), MaxCalls: 1, Tools: maker.ToolConfig{Workspace: t.TempDir()},
	}}))
	run, err := e.Exec(t.Context(), planOf("Say one"))
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, run)
	for calls := int64(2); calls <= 3; calls++ {
		if r.Stop != "max_calls" {
			t.Fatalf("with %d calls: %s by %q (%s), want stopped by max_calls", calls-1, r.Status, r.Stop, r.Reason)
		}
		r = resume(t, e, run.ID(), func(c *maker.Config) { c.MaxCalls = calls })
	}
	if r.Status != event.StatusCompleted {
		t.Fatalf("Resume() with a third call = %s by %q (%s), want completed", r.Status, r.Stop, r.Reason)
	}
	wantAllCounted(t, r, clerk.answered()["Say one"], 0)
	wantReplay(t, e, run.ID())
}

// Whatever becomes of samples whose rule changed on the resume, the log stays
// consistent.
func TestAnInterruptedVoteUnderAnotherRule(t *testing.T) {
	for _, k := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			clerk := newClerk(t, following(t, says("Say", "done: false", "done: true")), stepTopic)
			e := newEngine(t, clerk.behind(maker.Options{Config: maker.Config{
				Voting: maker.FirstToK(3), BatchSize: 1, MaxCalls: 4, Tools: maker.ToolConfig{Workspace: t.TempDir()},
			}}))
			run, err := e.Exec(t.Context(), planOf("Say one", "Say two"))
			if err != nil {
				t.Fatal(err)
			}
			mustResult(t, run)
			if r := resume(t, e, run.ID(), func(c *maker.Config) { c.MaxCalls, c.Voting.K = 0, k }); r.Status != event.StatusCompleted {
				t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
			}
			wantOnce(t, run.Dir())
			wantReplay(t, e, run.ID())
		})
	}
}

// The steps of a batch that were decided when the run was stopped were asked again
// under other keys if a tool had another effect class on the resume: see
// TestStepsStayDecidedWhateverToolsThereAre, where they were committed as well.
func TestABatchStaysDecidedWhateverToolsThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &witness{}
		clerk := newClerk(t, following(t,
			calls("Look at the", 0, "Look", map[string]any{"item": "sky"}), says("Look at the", "done: true"), says("Say", "done: true"),
		), stepTopic)
		clerk.holdBack(func(ctx context.Context, _ int, question string) error {
			if question != "Say one" {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		opts := clerk.behind(maker.Options{
			LogDir: t.TempDir(), Tools: []tool.Tool{look.tool(t, "Look", tool.Observe)},
			Config: maker.Config{
				Voting: maker.FirstToK(2), Plan: maker.PlanConfig{Parallel: 3},
				Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()},
			},
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		run, err := newEngine(t, opts).Exec(ctx, planOf("Look at the sky | Look", "Say one", "Look at the sea | Look"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel(maker.ErrInterrupted)
		want := map[string]int{"Look at the sky": 2, "Look at the sky, after 1 calls": 2, "Look at the sea": 2, "Look at the sea, after 1 calls": 2}
		if r := mustResult(t, run); r.Stop != event.StopCancelled || !cmp.Equal(want, clerk.answered()) {
			t.Fatalf("Exec() = %s by %q (%s) after the answers %v, want it cancelled after %v", r.Status, r.Stop, r.Reason, clerk.answered(), want)
		}

		clerk.holdBack(nil)
		opts.Tools = []tool.Tool{look.tool(t, "Look", tool.Mutate)}
		e := newEngine(t, opts)
		if r := resume(t, e, run.ID(), nil); r.Status != event.StatusCompleted || look.calls.Load() != 4 {
			t.Errorf("Resume() = %s (%s) after %d looks, want completed after 4", r.Status, r.Reason, look.calls.Load())
		}
		want["Say one"] = 2
		if diff := cmp.Diff(want, clerk.answered()); diff != "" {
			t.Errorf("answers by question in both sessions: -want +got\n%s", diff)
		}
		wantOnce(t, run.Dir())
		wantReplay(t, e, run.ID())
	})
}

// decidedSteps counts the questions of each step that were decided.
func decidedSteps(t *testing.T, dir string) map[int]int {
	t.Helper()
	steps := map[int]int{}
	for _, v := range eventsOf[event.VoteCompleted](t, dir) {
		if v.Status == "decided" {
			steps[v.Step]++
		}
	}
	return steps
}

// until waits for c to be closed, unless ctx ends before.
func until(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A step that waited for a person ended the steps beside it in the middle of their
// samples: these were paid for, were in no log, and were asked for again on the
// resume.
func TestAWaitingStepLetsItsSiblingsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, looking, once := make(chan struct{}), make(chan struct{}), sync.Once{}
		look := &witness{then: func(ctx context.Context) error {
			once.Do(func() { close(looking) })
			return until(ctx, release)
		}}
		clerk := newClerk(t, following(t, append([]simRule{
			calls("Look at the sky", 0, "Look", map[string]any{"item": "sky"}), says("Look at the sky", "done: true"),
		}, partyRules...)...), stepTopic)
		opts := clerk.behind(maker.Options{
			LogDir: t.TempDir(), Tools: []tool.Tool{look.tool(t, "Look", tool.Observe)},
			Config: maker.Config{Voting: maker.FirstToK(3), Plan: maker.PlanConfig{Parallel: 2}, Tools: maker.ToolConfig{Workspace: t.TempDir()}},
			Ask: func(ctx context.Context, _ maker.Question) (string, error) {
				if err := until(ctx, looking); err != nil {
					return "", err
				}
				return "", maker.ErrAbsent
			},
		})
		e := newEngine(t, opts)
		run, err := e.Exec(t.Context(), planOf("Find out who comes", "Look at the sky | Look"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // nobody was there, and the other step still looks
		close(release)
		if r := mustResult(t, run); r.Stop != event.StopWaiting {
			t.Fatalf("Exec() = %s by %q (%s), want waiting", r.Status, r.Stop, r.Reason)
		}
		want := map[string]int{"Find out who comes": 3, "Look at the sky": 3, "Look at the sky, after 1 calls": 3}
		if diff := cmp.Diff(want, clerk.answered()); diff != "" {
			t.Errorf("answers by question in the first session: -want +got\n%s", diff)
		}
		if samples, decided := samplesOf(t, run.Dir())[1], decidedSteps(t, run.Dir())[1]; samples != 3 || decided != 1 {
			t.Errorf("the log of the first session has %d samples and %d decisions of step 1, want 3 and 1", samples, decided)
		}
		wantReplay(t, e, run.ID())

		opts.Ask = ada
		e = newEngine(t, opts)
		if r := resume(t, e, run.ID(), nil); r.Status != event.StatusCompleted {
			t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
		}
		want["Find out who comes, after 1 calls"] = 3
		if diff := cmp.Diff(want, clerk.answered()); diff != "" {
			t.Errorf("answers by question in both sessions: -want +got\n%s", diff)
		}
		if n := look.calls.Load(); n != 3 {
			t.Errorf("%d samples looked, want 3", n)
		}
		wantOnce(t, run.Dir())
		wantReplay(t, e, run.ID())
	})
}

// The same where the step beside it is asking a person who is there: the question was
// taken away from under their hands, and put again on the resume.
func TestAWaitingStepLetsOthersBeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, put := make(chan struct{}), make(chan struct{})
		opts := maker.Options{
			LogDir: t.TempDir(), Env: noEnv,
			Config: maker.Config{
				Model: following(t, append([]simRule{
					calls("Find out who goes", 0, "AskUserQuestion", map[string]any{"question": "Who goes?"}), says("Find out who goes", "done: true"),
				}, partyRules...)...),
				Plan: maker.PlanConfig{Parallel: 2}, Tools: maker.ToolConfig{Workspace: t.TempDir()},
			},
			Ask: func(ctx context.Context, q maker.Question) (string, error) {
				if q.Text == "Who goes?" {
					close(put)
					return "Bob", until(ctx, release)
				}
				if err := until(ctx, put); err != nil {
					return "", err
				}
				return "", maker.ErrAbsent
			},
		}
		run, err := newEngine(t, opts).Exec(t.Context(), planOf("Find out who comes", "Find out who goes"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // nobody can say who comes, and somebody is writing who goes
		close(release)
		if r := mustResult(t, run); r.Stop != event.StopWaiting {
			t.Fatalf("Exec() = %s by %q (%s), want waiting", r.Status, r.Stop, r.Reason)
		}
		if said := eventsOf[event.ClarificationProvided](t, run.Dir()); len(said) != 1 || said[0].Answer != "Bob" {
			t.Errorf("the log of the first session has the answers %+v, want Bob", said)
		}

		var mu sync.Mutex
		asked := map[string]int{}
		opts.Ask = func(_ context.Context, q maker.Question) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[q.Text]++
			return "Ada", nil
		}
		e := newEngine(t, opts)
		if r := resume(t, e, run.ID(), nil); r.Status != event.StatusCompleted {
			t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
		}
		if diff := cmp.Diff(map[string]int{"Who comes?": 1}, asked); diff != "" {
			t.Errorf("questions of the second session: -want +got\n%s", diff)
		}
		wantOnce(t, run.Dir())
		wantReplay(t, e, run.ID())
	})
}

// The same where a problem is solved in parts, and one of them is left to a person.
func TestAWaitingPartLetsItsSiblingsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, begun := make(chan struct{}), make(chan struct{})
		var asked atomic.Int64
		const right = `"solve","problem":"right"`
		clerk := newClerk(t, scripted(t, disagree+halves+`"ask":"solve","problem":"left" =1> s:1 | s:2 | s:3 | s:4 | s:5
"ask":"solve","problem":"right" => s:R
`+joined+checked), solveTopic)
		clerk.holdBack(func(ctx context.Context, _ int, question string) error {
			if question != right || asked.Add(1) != 2 {
				return nil
			}
			close(begun)
			return until(ctx, release)
		})
		opts := clerk.behind(maker.Options{
			LogDir: t.TempDir(),
			Config: maker.Config{
				Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}, Solve: maker.SolveConfig{Escalate: []string{"person"}},
			},
			Ask: func(ctx context.Context, _ maker.Question) (string, error) {
				if err := until(ctx, begun); err != nil {
					return "", err
				}
				return "", maker.ErrAbsent
			},
		})
		e := newEngine(t, opts)
		run := solve(t, e, "whole")
		synctest.Wait() // nobody was there, and the other part is still being solved
		close(release)
		if r := mustResult(t, run); r.Stop != event.StopWaiting {
			t.Fatalf("Solve() = %s by %q (%s), want waiting", r.Status, r.Stop, r.Reason)
		}
		if n := clerk.answered()[right]; n != 2 {
			t.Errorf("the first session got %d answers about the right part, want 2", n)
		}
		decided := 0
		for question, n := range decidedKeys(t, run.Dir()) {
			if strings.HasSuffix(question, "solve/0.1/solve") {
				decided += n
			}
		}
		if decided != 1 {
			t.Errorf("the right part is decided %d times in the first session, want once: %v", decided, decidedKeys(t, run.Dir()))
		}
		wantReplay(t, e, run.ID())

		opts.Ask = func(context.Context, maker.Question) (string, error) { return "L", nil }
		e = newEngine(t, opts)
		if r := resume(t, e, run.ID(), nil); r.Status != event.StatusCompleted {
			t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
		}
		if n := clerk.answered()[right]; n != 2 {
			t.Errorf("both sessions got %d answers about the right part, want 2", n)
		}
		wantReplay(t, e, run.ID())
	})
}
