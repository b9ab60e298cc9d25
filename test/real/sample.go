package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/model/recorded"
)

const (
	// oneLineTokens are enough for an answer of a few words.
	oneLineTokens = 12

	// choiceTokens is all that a base model needs to choose: each choice is one token of
	// its vocabulary, and each token that is not written makes a call cheaper by half.
	choiceTokens = 1
)

// sampleCommand asks a model what the bank does not have yet.
func sampleCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("real sample", flag.ContinueOnError)
	url := f.String("url", "", "address of the server, which ends with /v1")
	name := f.String("model", "", "name of the model in the bank")
	as := f.String("form", string(chat), "how the model is asked: chat or text")
	folder := f.String("bank", "", "folder of the bank")
	families := f.String("families", "test/real/families", "folder of the families")
	only := f.String("only", "", "families to ask, separated by commas (default all)")
	ways := f.Int("stages", len(stages), "ways of asking, the most telling ones first")
	items := f.Int("items", 100, "items of each family")
	slots := f.Int("slots", 1, "calls at a time, as many as the server has slots")
	limit := f.Duration("for", time.Hour, "stop after this time; the next run goes on")
	own := f.String("own", "", "file of the project's own prompts, which are asked instead of the families")
	if err := f.Parse(args); err != nil {
		return err
	}
	client, err := newClient(*url, *name)
	if err != nil {
		return err
	}
	all, err := readFamilies(*families)
	if err != nil {
		return err
	}
	if *ways < 0 || *ways > len(stages) {
		return fmt.Errorf("there are %d ways of asking", len(stages))
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return err
	}
	to, have, err := openBank(filepath.Join(*folder, *name+".jsonl"))
	if err != nil {
		return err
	}
	defer to.close()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	s := &sampler{client: client, form: form(*as), have: have, to: to, slots: *slots, began: time.Now()}
	if *own != "" {
		return s.ownPrompts(ctx, *name, *own, *items)
	}
	return s.families(ctx, *name, chosen(all, *only), stages[:*ways], *items)
}

// chosen are the families that are named, or all of them.
func chosen(all []*family, names string) []*family {
	if names == "" {
		return all
	}
	var some []*family
	for name := range strings.SplitSeq(names, ",") {
		for _, f := range all {
			if f.Name == name {
				some = append(some, f)
			}
		}
	}
	return some
}

// A sampler asks one model and keeps what it says.
type sampler struct {
	client model.Model
	form   form
	have   bank // what there was at the start
	slots  int  // calls at a time
	began  time.Time

	mu         sync.Mutex
	to         *appender
	calls, out int64
}

// families asks all that the bank does not have yet, as long as there is time.
func (s *sampler) families(ctx context.Context, name string, families []*family, ways []stage, items int) error {
	for _, way := range ways {
		todo := slices.DeleteFunc(jobs(name, families, []stage{way}, items), func(j job) bool { return s.have[j.question] != nil })
		done, err := s.all(ctx, todo)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if done < len(todo) {
			s.say("%s: stopped after %d of %d", way.name, done, len(todo))
			return nil
		}
		s.say("%s: %d done", way.name, len(todo))
	}
	return nil
}

// all makes calls, as many at a time as there are slots, until one fails. It returns
// how many were made.
func (s *sampler) all(ctx context.Context, todo []job) (done int, failed error) {
	next := make(chan job)
	var mu sync.Mutex
	var workers sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range max(s.slots, 1) {
		workers.Go(func() {
			for j := range next {
				err := s.ask(ctx, j.question, j.family.request(s.form, j.item, j.Wording, j.Examples), "\n")
				mu.Lock()
				if err == nil {
					done++
				} else if failed == nil {
					failed = err
					stop()
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range todo {
		if ctx.Err() != nil {
			break
		}
		next <- j
	}
	close(next)
	workers.Wait()
	return done, failed
}

// ask makes one call and writes down what came.
func (s *sampler) ask(ctx context.Context, q question, req *model.Request, stop string) error {
	prompt := promptHash(req)
	req.Temperature = &q.Temperature
	ctx = context.WithValue(ctx, extrasKey{}, extras{stop: stop, seed: seed(prompt, q.Sample)})
	r, err := s.client.Generate(ctx, req)
	if err != nil {
		return fmt.Errorf("%+v: %w", q, err)
	}
	answer := &sample{q, prompt, r.Text, string(r.Stop), r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite, r.Usage.Output, r.ToolCalls}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.out += answer.Out
	return s.to.append(answer)
}

// promptHash is that of a request which says nothing of the temperature.
func promptHash(req *model.Request) string { return recorded.Hash(req)[:16] }

func (s *sampler) say(format string, args ...any) {
	took := time.Since(s.began).Seconds()
	fmt.Printf(format+"; %d calls, %d tokens written, %.1f a second\n", append(args, s.calls, s.out, float64(s.out)/took)...)
}

// seed makes a sample the same whenever it is drawn again from the same server.
func seed(prompt string, sample int) uint32 {
	h := fnv.New32a()
	io.WriteString(h, prompt)
	binary.Write(h, binary.LittleEndian, int64(sample))
	return h.Sum32()
}

// newClient is the project's own client of the OpenAI format.
func newClient(url, name string) (*openai.Client, error) {
	if url == "" || name == "" {
		return nil, errors.New("-url and -model are needed")
	}
	return openai.New(openai.Options{Model: name, Provider: "compat", BaseURL: url, Transport: withExtras{http.DefaultTransport}})
}

// extras are parts of a request that the client does not know.
type extras struct {
	stop string // where the answer ends
	seed uint32
}

type extrasKey struct{}

// withExtras adds what the context has for the server. Base models do not stop by
// themselves, and a bank should be drawn the same again.
type withExtras struct{ next http.RoundTripper }

func (w withExtras) RoundTrip(r *http.Request) (*http.Response, error) {
	e, ok := r.Context().Value(extrasKey{}).(extras)
	if !ok {
		return w.next.RoundTrip(r)
	}
	body := map[string]any{}
	err := json.NewDecoder(r.Body).Decode(&body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	body["seed"] = e.seed
	if e.stop != "" {
		body["stop"] = []string{e.stop}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	with := r.Clone(r.Context())
	with.Body = io.NopCloser(bytes.NewReader(data))
	with.ContentLength = int64(len(data))
	with.GetBody = nil
	return w.next.RoundTrip(with)
}
