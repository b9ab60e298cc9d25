package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/tokens"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/internal/server/access"
	"github.com/maker-mdap/maker/runs"
)

// register adds the flags about who may.
func (f *flags) register(cmd *cobra.Command) {
	tokens.FileFlag(cmd, &f.tokenFile)
	cmd.Flags().StringVar(&f.tlsCert, "tls-cert", "", "file with the certificate to speak TLS with, PEM; a new one is taken up at once")
	cmd.Flags().StringVar(&f.tlsKey, "tls-key", "", "file with its key, PEM")
	cmd.Flags().StringSliceVar(&f.hosts, "host", nil, "another name that the server is known by, such as that of a proxy")
}

// guard is who may, and how they come.
type guard struct {
	*access.Guard
	store *access.Store
	place string         // the folder of runs
	old   []access.Token // as servers before this one have left them
	files []string       // that say who may
	app   App
}

// An entry is what the flags say about who may.
type entry struct {
	store *access.Store
	list  []access.Token // that there were
	tls   *tls.Config    // nil without
}

// enter finds out who may before anything is done.
func (a App) enter(f *flags) (entry, error) {
	var e entry
	var err error
	if e.store, err = tokens.Open(f.tokenFile); err != nil {
		return e, a.Usage(err)
	}
	if e.list, err = e.store.List(); err != nil {
		return e, &maker.ConfigError{Field: "token_file", Err: err}
	}
	if e.tls, err = f.tls(); err != nil {
		return e, err
	}
	if checkLoopback(f.listen, false) == nil {
		return e, nil
	}
	if err := checkLoopback(f.listen, true); err != nil {
		return e, &maker.ConfigError{Field: "listen", Err: err}
	}
	if !slices.ContainsFunc(e.list, func(t access.Token) bool { return !t.Expired(time.Now()) }) {
		return e, &maker.ConfigError{Field: "listen", Err: fmt.Errorf("%s can be reached from elsewhere, and there is no token in %s; make one first: maker token new --name NAME --scope write, or listen on this machine alone: --listen %s", f.listen, e.store.Path(), DefaultListen)}
	}
	if e.tls == nil {
		fmt.Fprintf(a.Err, "maker: WARNING: %s can be reached from elsewhere, and nothing is encrypted:\nwhoever listens in on the network can read all that is said and take your tokens.\nUse --tls-cert and --tls-key, or a proxy that speaks TLS.\n", f.listen)
	}
	return e, nil
}

// tls reads the certificate.
func (f *flags) tls() (*tls.Config, error) {
	switch {
	case f.tlsCert == "" && f.tlsKey == "":
		return nil, nil
	case f.tlsKey == "":
		return nil, &maker.ConfigError{Field: "tls_key", Err: errors.New("the certificate of --tls-cert needs its key")}
	case f.tlsCert == "":
		return nil, &maker.ConfigError{Field: "tls_cert", Err: errors.New("the key of --tls-key needs its certificate")}
	}
	p := &pair{cert: f.tlsCert, key: f.tlsKey}
	if _, err := p.get(nil); err != nil {
		return nil, &maker.ConfigError{Field: "tls_cert", Err: fmt.Errorf("the certificate with its key of --tls-key: %w", err)}
	}
	return &tls.Config{GetCertificate: p.get, MinVersion: tls.VersionTLS12}, nil
}

// A pair is a certificate with its key, in files that somebody may renew.
type pair struct {
	cert, key string

	mu   sync.Mutex
	now  *tls.Certificate
	when [2]time.Time // when its files were written
}

// get reads the files again if they have changed. While they do not fit each other, as in the
// middle of a renewal, those before them are good enough.
func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var when [2]time.Time
	for i, path := range []string{p.cert, p.key} {
		if info, err := os.Stat(path); err == nil {
			when[i] = info.ModTime()
		}
	}
	if p.now != nil && when == p.when {
		return p.now, nil
	}
	c, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil && p.now == nil {
		return nil, err
	}
	if err == nil {
		p.now, p.when = &c, when
	}
	return p.now, nil
}

// guard is who may, at the address that is listened on.
func (a App) guard(f *flags, e entry, address string) (*guard, error) {
	place, err := filepath.Abs(a.LogDir())
	if err != nil {
		return nil, err
	}
	g := &guard{store: e.store, place: place, old: e.list, app: a}
	for _, path := range []string{e.store.Path(), f.tlsCert, f.tlsKey} {
		if path == "" {
			continue
		}
		file, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		g.files = append(g.files, file)
	}
	g.Guard, err = access.New(access.Options{Tokens: e.store, Address: address, Hosts: f.hosts, TLS: e.tls != nil, Log: a.Logger})
	if err != nil {
		return nil, &maker.ConfigError{Field: "host", Err: err}
	}
	dir, err := access.DoorDir()
	if err == nil {
		err = g.Announce(dir)
	}
	if err != nil {
		fmt.Fprintf(a.Err, "maker: warning: `maker token link` will not find this server: %v\n", err)
	}
	return g, nil
}

// options are those of the server with who may.
func (g *guard) options(o server.Options) server.Options {
	o.Guard = g.Wrap
	o.Caller = func(ctx context.Context) server.Caller { return access.From(ctx) }
	o.Me = me
	o.Reserve = g.reserve
	settings, resuming := o.Settings, o.Resuming
	o.Settings = func(kind config.Kinds, given map[string][]string) (*maker.Options, error) {
		opts, err := settings(kind, given)
		return g.protect(opts), err
	}
	o.Resuming = func(given map[string][]string) (*maker.Options, func(*maker.Config), error) {
		opts, change, err := resuming(given)
		return g.protect(opts), change, err
	}
	return o
}

// protect keeps agents from writing the files that say who may.
func (g *guard) protect(o *maker.Options) *maker.Options {
	if o != nil {
		o.Protected = slices.Concat(o.Protected, g.files)
	}
	return o
}

// me describes who asks.
func me(ctx context.Context) server.Me {
	c := access.From(ctx)
	m := server.Me{Name: c.Name, Runs: "own", Scopes: []string{}}
	for _, s := range c.Scope.Scopes() {
		m.Scopes = append(m.Scopes, string(s))
	}
	if c.AllRuns {
		m.Runs = "all"
	}
	if c.Budget != nil {
		left := c.Budget.LeftUSD()
		m.BudgetUSD, m.LeftUSD = &c.Budget.MaxUSD, &left
	}
	return m
}

// reserve takes what a run may spend from the budget of who asks. A run that the server goes on
// with by itself takes it from that of its owner.
func (g *guard) reserve(ctx context.Context, want server.Spending) (server.Reservation, error) {
	c := access.From(ctx)
	token := c.Name
	switch {
	case c.Person || c.Name == "" && want.Owner == "":
		return server.Reservation{}, nil
	case c.Name == "":
		token = want.Owner
		if id, ok, err := g.held(token, want.Run); ok || err != nil {
			return server.Reservation{Settle: g.settle(token, id)}, err // its limit is what is held
		}
	}
	amount := 0.0
	if want.MaxUSD > 0 {
		if amount = want.MaxUSD - want.BeforeUSD; amount <= 0 {
			return server.Reservation{}, nil // it cannot spend anything
		}
	}
	r, err := g.store.Reserve(token, g.place, amount, want.BeforeUSD)
	if errors.Is(err, access.ErrNoToken) && c.Name == "" { // its runs go on
		return server.Reservation{}, nil
	}
	if err != nil || r.ID == "" {
		return server.Reservation{}, err
	}
	return server.Reservation{
		USD:    r.USD,
		Bind:   func(run string) { g.warn(g.store.Bind(token, r.ID, run)) },
		Settle: g.settle(token, r.ID),
	}, nil
}

// held finds what a server that was killed had reserved for a run.
func (g *guard) held(token, run string) (id string, ok bool, err error) {
	list, err := g.store.List()
	for _, t := range list {
		if t.Name != token || t.Budget == nil {
			continue
		}
		for _, r := range t.Budget.Open {
			if r.Place == g.place && r.Run == run {
				return r.ID, true, nil
			}
		}
	}
	return "", false, err
}

func (g *guard) settle(token, id string) func(*float64) {
	return func(cost *float64) { g.warn(g.store.Settle(token, id, cost)) }
}

// warn says that the file of tokens could not be written. Whose token is gone has no budget to
// keep.
func (g *guard) warn(err error) {
	if err != nil && !errors.Is(err, access.ErrNoToken) {
		g.app.Logger.Warn(fmt.Sprintf("budgets are not up to date: %v", err))
	}
}

// settleOld settles what servers before this one have left open, as far as the runs are over.
// What a run has cost that is gone, or never got a name, nobody knows.
func (g *guard) settleOld() error {
	var err error
	for _, t := range g.old {
		if t.Budget == nil {
			continue
		}
		for _, r := range t.Budget.Open {
			if r.Place != g.place {
				continue
			}
			var cost *float64
			if r.Run != "" {
				sum := runs.Summarize(filepath.Join(g.place, r.Run))
				if sum.PID != 0 { // somebody goes on with it
					continue
				}
				cost = sum.CostUSD
			}
			err = errors.Join(err, g.store.Settle(t.Name, r.ID, cost))
		}
	}
	return err
}
