package server_test

import (
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
	amount := want.MaxUSD - want.BeforeUSD
	if amount <= 0 || amount > p.left+1e-9 {
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
// for titles and the like, has two runs beside each other, and each answer is of the model that
// was asked.
func TestTwoModelsAtOnce(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I am %s."}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, in.Model)
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
	const each = 10
	var mu sync.Mutex
	steps := map[string]map[int]bool{} // by run
	var all sync.WaitGroup
	for i := range 2 * each {
		all.Go(func() {
			name, spec, margin := "large", "maker/compat/large?k=3", 3
			if i%2 == 1 {
				name, spec, margin = "small", "maker/compat/small?voting=none", 1
			}
			status, body := s.ask("POST", "/v1/messages?beta=true", fmt.Sprintf(`{"model":"%s","max_tokens":50,"messages":[{"role":"user","content":"Who are you, for the %dth time?"}]}`, spec, i))
			var got struct {
				Content []struct{ Text string }
				Maker   struct {
					Run          string
					Step, Margin int
				}
			}
			if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK || len(got.Content) != 1 || got.Content[0].Text != "I am "+name+"." || got.Maker.Margin != margin {
				t.Errorf("%s: %d %s", spec, status, body)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if steps[got.Maker.Run] == nil {
				steps[got.Maker.Run] = map[int]bool{}
			}
			steps[got.Maker.Run][got.Maker.Step] = true
		})
	}
	all.Wait()
	if len(steps) != 2 {
		t.Errorf("they are steps of %d runs, want 2", len(steps))
	}
	for run, list := range steps {
		if len(list) != each || !list[0] || !list[each-1] {
			t.Errorf("%s has the steps %v, want 0 to %d", run, list, each-1)
		}
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
