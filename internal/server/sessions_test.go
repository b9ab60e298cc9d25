package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/runs"
)

// purse is a budget in memory.
type purse struct {
	mu         sync.Mutex
	left, paid float64
}

func (p *purse) me(context.Context) server.Me {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.left
	return server.Me{Name: "app", LeftUSD: &left}
}

func (p *purse) reserve(_ context.Context, want server.Spending) (server.Reservation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	amount := min(want.MaxUSD-want.BeforeUSD, p.left)
	if amount <= 0 {
		return server.Reservation{}, errors.New("nothing is left")
	}
	p.left -= amount
	return server.Reservation{USD: amount, Settle: func(cost *float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.left += amount - (*cost - want.BeforeUSD)
		p.paid += *cost - want.BeforeUSD
	}}, nil
}

// TestSessionsRest: of many sessions those that nobody uses are paused, one in which something
// is voted on is not, and each goes on as the same run.
func TestSessionsRest(t *testing.T) {
	asked, more := make(chan struct{}, 8), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "slow") {
			asked <- struct{}{}
			<-more
		}
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	}))
	t.Cleanup(upstream.Close)
	s := serve(t, t.TempDir(), func(o *server.Options) {
		o.Sessions = 2
		settings := o.Settings
		o.Settings = func(k config.Kinds, given map[string][]string) (*maker.Options, error) {
			opts, err := settings(k, given)
			if err == nil {
				opts.Config.BaseURL, opts.Config.Voting = upstream.URL+"/v1", maker.FirstToK(2)
			}
			return opts, err
		}
	})
	type told struct {
		Maker struct {
			Run  string
			Step int
		}
	}
	ask := func(session, text string) told {
		status, body := s.ask("POST", "/v1/chat/completions", fmt.Sprintf(`{"model":"maker/compat/m?max_calls=%s","messages":[{"role":"user","content":"%s"}]}`, session, text))
		var out told
		if err := json.Unmarshal(body, &out); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %s", session, status, body)
		}
		return out
	}
	slow := make(chan told)
	go func() { slow <- ask("901", "slow") }()
	<-asked
	first := map[string]told{}
	for _, session := range []string{"902", "903", "904", "905"} {
		first[session] = ask(session, "Is it so?")
	}
	for session, was := range first {
		if now := ask(session, "And now?"); now.Maker.Run != was.Maker.Run || now.Maker.Step != 1 {
			t.Errorf("%s goes on as %+v, want step 1 of %s", session, now.Maker, was.Maker.Run)
		}
	}
	if open := s.server.OpenSessions(); open > 2 {
		t.Errorf("%d sessions are open, want 2 at most", open)
	}
	close(more)
	if got := <-slow; got.Maker.Run == "" {
		t.Error("a vote in a session that was not paused has no answer")
	}
}

// TestTwoModelsAtOnce: a program that asks two models with one token, as the claude program does
// for titles and the like, has one run; each answer is of the model that was asked, by the rule
// that was wanted of it. After a restart it goes on, whichever of them is asked first.
func TestTwoModelsAtOnce(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I am %s."}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, in.Model)
	}))
	t.Cleanup(upstream.Close)
	logs := t.TempDir()
	start := func() *served {
		return serve(t, logs, func(o *server.Options) {
			settings := o.Settings
			o.Settings = func(k config.Kinds, given map[string][]string) (*maker.Options, error) {
				opts, err := settings(k, given)
				if err == nil {
					opts.Config.BaseURL = upstream.URL + "/v1"
					opts.Config.ModelExecution, opts.Config.Voters = "compat/other", []string{"compat/other"} // for other runs
				}
				return opts, err
			}
		})
	}
	s := start()
	// ask asks a model who it is, and says in which run and as which step.
	ask := func(name, with string, margin, i int) (run string, step int) {
		status, body := s.ask("POST", "/v1/messages?beta=true", fmt.Sprintf(`{"model":"maker/compat/%s%s","max_tokens":50,"messages":[{"role":"user","content":"Who are you, for the %dth time?"}]}`, name, with, i))
		var got struct {
			Content []struct{ Text string }
			Maker   struct {
				Run          string
				Step, Margin int
			}
		}
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK || len(got.Content) != 1 || got.Content[0].Text != "I am "+name+"." || got.Maker.Margin != margin {
			t.Errorf("%s%s: %d %s", name, with, status, body)
		}
		return got.Maker.Run, got.Maker.Step
	}
	const each = 10
	var mu sync.Mutex
	steps := map[string]map[int]bool{} // by run
	var all sync.WaitGroup
	for i := range 3 * each {
		all.Go(func() {
			asked := []struct {
				name, with string
				margin     int
			}{{"large", "?k=3", 3}, {"large", "?k=2&compare=meaning", 2}, {"small", "?voting=none", 1}}[i%3]
			run, step := ask(asked.name, asked.with, asked.margin, i)
			mu.Lock()
			defer mu.Unlock()
			if steps[run] == nil {
				steps[run] = map[int]bool{}
			}
			steps[run][step] = true
		})
	}
	all.Wait()
	if len(steps) != 1 {
		t.Errorf("they are steps of %d runs, want 1", len(steps))
	}
	var run string
	for name, list := range steps {
		if run = name; len(list) != 3*each || !list[0] || !list[3*each-1] {
			t.Errorf("%s has the steps %v, want 0 to %d", run, list, 3*each-1)
		}
	}
	next := 3 * each
	for with, margin := range map[string]int{"?voting=adaptive": 10 /* cold, for a length that nobody knows */, "?k=2&undecided=judge": 2} {
		if same, step := ask("large", with, margin, next); same != run || step != next {
			t.Errorf("large%s is step %d of %s, want %d of %s", with, step, same, next, run)
		}
		next++
	}
	if own, _ := ask("large", "?k=3&max_calls=100", 3, 0); own == run {
		t.Error("what is said about a whole run goes for the run of the others, want one of its own")
	}
	s.stop()
	s = start()
	if same, step := ask("tiny", "?k=4", 4, 0); same != run || step != next {
		t.Errorf("after a restart it is step %d of %s, want %d of %s", step, same, next, run)
	}
	s.stop()
	checkModels(t, filepath.Join(logs, run), 2*each+3) // those of one sample are no votes
}

// checkModels holds the log of a session with several models against its own rules.
func checkModels(t *testing.T, dir string, races int) {
	t.Helper()
	r, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := r.Replay(nil)
	if err != nil || len(replayed.Differences) > 0 {
		t.Errorf("replay: %v, %+v", err, replayed)
	}
	c, err := r.Certify()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, class := range c.Classes {
		total += class.Races
	}
	if total != races || len(c.Classes) != 2 {
		t.Errorf("the certificate has %d races in the classes %+v, want %d, one class for each model that was voted", total, c.Classes, races)
	}
}

// TestSessionsShareABudget: the sessions of a token are lent parts of its budget, so that all of
// them can go on until it is used up, and no more than that is spent.
func TestSessionsShareABudget(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	}))
	t.Cleanup(upstream.Close)
	file := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(file, []byte("compat/a: {input: 1000, output: 100000}\ncompat/b: {input: 1000, output: 100000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := price.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	const budget = 20
	p := &purse{left: budget}
	s := serve(t, t.TempDir(), func(o *server.Options) {
		o.Me, o.Reserve = p.me, p.reserve
		settings, resuming := o.Settings, o.Resuming
		o.Settings = func(k config.Kinds, given map[string][]string) (*maker.Options, error) {
			opts, err := settings(k, given)
			if err == nil {
				opts.Prices, opts.Config.BaseURL, opts.Config.Voting = prices, upstream.URL+"/v1", maker.FirstToK(2)
			}
			return opts, err
		}
		o.Resuming = func(given map[string][]string) (*maker.Options, func(*maker.Config), error) {
			opts, change, err := resuming(given)
			opts.Prices = prices
			return opts, change, err
		}
	})
	answered := map[string]int{}
	for refused := 0; refused < 2; {
		for _, name := range []string{"a", "b"} {
			status, body := s.ask("POST", "/v1/chat/completions", fmt.Sprintf(`{"model":"maker/compat/%s","max_tokens":10,"messages":[{"role":"user","content":"Is it so?"}]}`, name))
			switch {
			case status == http.StatusOK:
				answered[name]++
			case status == http.StatusTooManyRequests && strings.Contains(string(body), "insufficient_quota"):
				refused++
			default:
				t.Fatalf("%s: %d %s", name, status, body)
			}
		}
	}
	s.stop()
	if answered["a"] < 5 || answered["b"] < 5 {
		t.Errorf("answered %v, want several of both", answered)
	}
	if p.paid > budget || p.paid < budget/2 {
		t.Errorf("%.2f of %d dollars are spent", p.paid, budget)
	}
}

// TestDearRequest: a request that may take more than what its session is lent at once is lent more,
// if that is left, and refused if not.
func TestDearRequest(t *testing.T) {
	p := &purse{left: 4}
	s := serve(t, t.TempDir(), func(o *server.Options) { o.Me, o.Reserve = p.me, p.reserve })
	for _, test := range []struct {
		price  string // of a million tokens; answers have up to 32,000
		status int
	}{{"15,75", http.StatusOK}, {"15,300", http.StatusTooManyRequests}, {"15,110", http.StatusOK}, {"1,1", http.StatusOK}} {
		status, body := s.ask("POST", "/v1/chat/completions", fmt.Sprintf(`{"model":"maker/sim/default?p=1&k=2&price=%s","max_tokens":32000,"messages":[{"role":"user","content":"Compute: 20 + 22"}]}`, test.price))
		if status != test.status {
			t.Errorf("at %s: %d %s, want %d", test.price, status, body, test.status)
		}
	}
	s.stop()
	if p.paid <= 0 || p.paid > 0.1 {
		t.Errorf("%.4f dollars are spent", p.paid)
	}
}

// TestNamesOfSessions: sessions that are not the same are not called the same, whatever their
// names look like.
func TestNamesOfSessions(t *testing.T) {
	called := map[string][2]string{}
	for _, name := range []string{"", "n", "n: m a=1", `"n: m a=1"`, `"n`, "n:", "n, o"} {
		for _, alone := range []string{"", "m a=1", "m a=1: m a=1"} {
			task := server.TaskOf("ci", name, alone)
			if before, ok := called[task]; ok {
				t.Errorf("%q and %q are both called %s", before, [2]string{name, alone}, task)
			}
			called[task] = [2]string{name, alone}
		}
	}
	if got, want := server.TaskOf("ci", "n", "m a=1"), "requests of ci, n: m a=1"; got != want {
		t.Errorf("a session is called %q, want %q", got, want)
	}
}

// TestOwnJudges: who compares the texts of a request, and chooses among them, belongs to whom it
// is put to, not to the model that the run was begun with.
func TestOwnJudges(t *testing.T) {
	var mu sync.Mutex
	times, judged, asked := 0, map[string]int{}, map[string]int{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in struct{ Model string }
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		times++
		answer := fmt.Sprintf("I am %s, in other words%s.", in.Model, strings.Repeat(" again", times))
		switch {
		case bytes.Contains(body, []byte("say the same")):
			judged[in.Model+" compares"]++
			answer = "same"
		case bytes.Contains(body, []byte("serves whoever asked")):
			judged[in.Model+" chooses"]++
			answer = "a"
		default:
			asked[in.Model]++
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, answer)
	}))
	t.Cleanup(upstream.Close)
	s := serve(t, t.TempDir(), func(o *server.Options) {
		settings := o.Settings
		o.Settings = func(k config.Kinds, given map[string][]string) (*maker.Options, error) {
			opts, err := settings(k, given)
			if err == nil {
				opts.Config.BaseURL = upstream.URL + "/v1"
			}
			return opts, err
		}
	})
	runs := map[string]bool{}
	for _, name := range []string{"first?voting=none", "one?k=3&compare=meaning", "two?k=3&undecided=judge", "three?k=3&compare=meaning&model_cheap=compat/four", "five?k=3&undecided=judge&model_reasoning=compat/six", "seven?k=4&compare=meaning&voters=compat/eight,compat/nine"} {
		status, body := s.ask("POST", "/v1/messages", fmt.Sprintf(`{"model":"maker/compat/%s","max_tokens":50,"messages":[{"role":"user","content":"Who are you?"}]}`, name))
		var got struct{ Maker struct{ Run string } }
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
		runs[got.Maker.Run] = true
	}
	if len(runs) != 1 {
		t.Errorf("they are steps of the runs %v, want one", runs)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"one compares", "two chooses", "four compares", "six chooses", "seven compares"} {
		if judged[want] == 0 {
			t.Errorf("%s: never", want)
		}
		delete(judged, want)
	}
	if len(judged) > 0 {
		t.Errorf("others were asked: %v", judged)
	}
	if asked["eight"] < 2 || asked["nine"] < 2 || asked["seven"] > 0 {
		t.Errorf("who voted: %v, want two voters to share the samples of a request", asked)
	}
}

// TestPausedByAPerson: requests of a session that a person paused are refused at once, and
// answered again in the same run once it is resumed. That one rests which nobody uses, or whose
// server is gone, makes no difference.
func TestPausedByAPerson(t *testing.T) {
	logs := t.TempDir()
	s := serve(t, logs, nil)
	ask := func() (status int, run string, body []byte) {
		status, body = s.ask("POST", "/v1/chat/completions", `{"model":"maker/sim/default?p=1&k=2","messages":[{"role":"user","content":"What is 2 + 2?"}]}`)
		var got struct{ Maker struct{ Run string } }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		return status, got.Maker.Run, body
	}
	_, run, _ := ask()
	control := func(what string) {
		if status, body := s.ask("POST", "/api/runs/"+run+"/"+what, `{}`); status >= 300 {
			t.Fatalf("%s: %d %s", what, status, body)
		}
	}
	for _, rests := range []bool{false, true} {
		if rests {
			s.stop()
			s = serve(t, logs, nil)
		}
		control("pause")
		for range 2 {
			if status, _, body := ask(); status != http.StatusServiceUnavailable || !strings.Contains(string(body), "somebody has paused the session "+run) {
				t.Errorf("a request to a paused session, at rest %t: %d %s", rests, status, body)
			}
		}
		control("resume")
		if status, same, body := ask(); status != http.StatusOK || same != run {
			t.Errorf("after it was resumed: %d %s", status, body)
		}
	}
	s.stop()
	r, err := runs.Open(filepath.Join(logs, run))
	if err != nil {
		t.Fatal(err)
	}
	if replayed, err := r.Replay(nil); err != nil || len(replayed.Differences) > 0 {
		t.Errorf("replay: %v, %+v", err, replayed)
	}
}

// TestIdleLoans: what sessions were lent that nobody uses does not keep others from being asked.
func TestIdleLoans(t *testing.T) {
	for _, budget := range []float64{20, 0.05} {
		p := &purse{left: budget}
		s := serve(t, t.TempDir(), func(o *server.Options) { o.Me, o.Reserve = p.me, p.reserve })
		runs := map[int]string{}
		for i := range 60 {
			status, body := s.ask("POST", "/v1/chat/completions", fmt.Sprintf(`{"model":"maker/sim/default?p=1&k=1&max_calls=%d","messages":[{"role":"user","content":"What is 2 + 2?"}]}`, 900+i%30))
			var got struct{ Maker struct{ Run string } }
			if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
				t.Fatalf("session %d, with a budget of %v: %d %s", i, budget, status, body)
			}
			if was := runs[i%30]; was != "" && was != got.Maker.Run {
				t.Errorf("session %d goes on as %s, want %s", i%30, got.Maker.Run, was)
			}
			runs[i%30] = got.Maker.Run
		}
		s.stop()
		if p.paid > 0.01 || p.left+p.paid < budget-1e-9 || p.left+p.paid > budget+1e-9 {
			t.Errorf("of %v dollars %v are paid and %v are left", budget, p.paid, p.left)
		}
	}
}

// TestResumedWhileAsked: a session that a person resumes while clients ask again and again goes on
// as the run that it was; nothing takes its place, and it takes nobody's place.
func TestResumedWhileAsked(t *testing.T) {
	logs := t.TempDir()
	s := serve(t, logs, nil)
	ask := func(settings string) (status int, run string) {
		status, body := s.ask("POST", "/v1/chat/completions", `{"model":"maker/sim/default?p=1&k=2`+settings+`","messages":[{"role":"user","content":"What is 2 + 2?"}]}`)
		var got struct{ Maker struct{ Run string } }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%d %s: %v", status, body, err)
		}
		return status, got.Maker.Run
	}
	control := func(run, what string) int {
		status, _ := s.ask("POST", "/api/runs/"+run+"/"+what, `{}`)
		return status
	}
	_, run := ask("")
	for range 10 {
		if status := control(run, "pause"); status != http.StatusOK {
			t.Fatalf("pause: %d", status)
		}
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				for {
					switch status, in := ask(""); {
					case status == http.StatusOK && in == run:
						return
					case status != http.StatusServiceUnavailable:
						t.Errorf("it is answered with %d in %s, want %s", status, in, run)
						return
					}
				}
			})
		}
		if status := control(run, "resume"); status != http.StatusOK {
			t.Fatalf("resume: %d", status)
		}
		asking.Wait()
	}
	if status := control(run, "cancel"); status != http.StatusOK {
		t.Fatalf("cancel: %d", status)
	}
	status, next := ask("")
	if status != http.StatusOK || next == run {
		t.Errorf("after it was cancelled: %d in %s", status, next)
	}
	if status := control(run, "resume"); status != http.StatusConflict {
		t.Errorf("an earlier session is resumed beside the one that goes on: %d, want %d", status, http.StatusConflict)
	}
	if status, same := ask(""); status != http.StatusOK || same != next {
		t.Errorf("then it is answered with %d in %s, want %s", status, same, next)
	}
	// One that has used up what it may is in the way until it is removed.
	_, limited := ask("&max_calls=2")
	for range 2 {
		if status, _ := ask("&max_calls=2"); status != http.StatusTooManyRequests {
			t.Errorf("after its limit: %d", status)
		}
	}
	if err := runs.Remove(filepath.Join(logs, limited)); err != nil {
		t.Fatal(err)
	}
	if status, anew := ask("&max_calls=2"); status != http.StatusOK || anew == limited {
		t.Errorf("after it was removed: %d in %s", status, anew)
	}
	if left, err := filepath.Glob(filepath.Join(logs, "*", "events.jsonl")); err != nil || len(left) != 3 {
		t.Errorf("there are the runs %v, %v, want 3", left, err)
	}
}
