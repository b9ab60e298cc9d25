// Package route finds the model that a name stands for.
package route

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/model/sim"
)

// Options say how to reach providers.
type Options struct {
	BaseURL   string              // of compat/ models
	Env       func(string) string // where keys and addresses come from
	Transport http.RoundTripper   // nil for a tuned one
	Prices    *price.Table
}

// A Voter is a model that can be asked, and what is known about it.
type Voter struct {
	model.Model
	Name      string // with its provider
	Provider  string
	Price     *price.Price // nil if it is not known
	Simulated bool
}

// Open returns the model that name stands for.
func Open(name string, opts Options) (*Voter, error) {
	provider, rest := split(name)
	switch provider {
	case "sim":
		return openSim(rest)
	case "openai":
		key := opts.Env("OPENAI_API_KEY")
		if key == "" {
			return nil, missingKey(name, "OPENAI_API_KEY")
		}
		return openAI(provider, rest, cmp.Or(opts.Env("OPENAI_BASE_URL"), "https://api.openai.com/v1"), key, opts)
	case "compat":
		if opts.BaseURL == "" {
			return nil, fmt.Errorf("%s needs the address of its server: set --base-url, such as http://127.0.0.1:8080/v1", name)
		}
		return openAI(provider, rest, opts.BaseURL, opts.Env("MAKER_COMPAT_API_KEY"), opts)
	case "":
		return nil, fmt.Errorf("%q names no provider: write provider/model, with one of %s", name, strings.Join(providers, ", "))
	default:
		return nil, fmt.Errorf("%q: there is no provider called %q; there are %s", name, provider, strings.Join(providers, ", "))
	}
}

var providers = []string{"compat", "openai", "sim"}

// split separates the provider from the model; some models are known without.
func split(name string) (provider, rest string) {
	provider, rest, ok := strings.Cut(name, "/")
	if before, _, query := strings.Cut(name, "?"); query && !strings.Contains(before, "/") {
		ok = false // a slash inside settings does not name a provider
	}
	if ok {
		return provider, rest
	}
	if strings.HasPrefix(name, "gpt-") {
		return "openai", name
	}
	return "", name
}

func missingKey(name, variable string) error {
	return fmt.Errorf("%s needs a key: set %s, or try the simulator, which needs none: --model sim/default", name, variable)
}

func openSim(rest string) (*Voter, error) {
	settings, err := sim.Parse(rest)
	if err != nil {
		return nil, err
	}
	m, err := sim.New(settings)
	if err != nil {
		return nil, err
	}
	return &Voter{Model: m, Name: settings.String(), Provider: "sim", Price: simPrice(settings), Simulated: true}, nil
}

func openAI(provider, name, baseURL, key string, opts Options) (*Voter, error) {
	if name == "" {
		return nil, errors.New("the model has no name after its provider")
	}
	client, err := openai.New(openai.Options{
		Provider: provider, Model: name, BaseURL: baseURL, APIKey: key, Transport: opts.Transport,
	})
	if err != nil {
		return nil, err
	}
	v := &Voter{Model: client, Name: provider + "/" + name, Provider: provider}
	if p, ok := opts.Prices.Lookup(v.Name); ok {
		v.Price = &p
	}
	// A simulator behind HTTP says in its name what it is.
	if settings, err := sim.Parse(name); err == nil && strings.HasPrefix(name, "sim/") {
		v.Price, v.Simulated = simPrice(settings), true
	}
	return v, nil
}

func simPrice(s sim.Settings) *price.Price {
	in, out := price.FromUSD(s.PriceIn/1e6), price.FromUSD(s.PriceOut/1e6)
	return &price.Price{Input: in, CacheRead: in, CacheWrite: in, Output: out}
}

// A Key is the variable that holds a provider's key.
type Key struct{ Provider, Variable string }

// Keys lists the keys that MAKER may need.
func Keys() []Key { return []Key{{"openai", "OPENAI_API_KEY"}} }
