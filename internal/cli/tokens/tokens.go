// Package tokens has the commands that make, list and revoke what programs come into the server
// with, and the links that people come by.
package tokens

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/internal/cli/moment"
	"github.com/maker-mdap/maker/internal/server/access"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/usage"
)

// An App is what the commands need of the program.
type App struct {
	Out, Err  io.Writer
	JSON      func() bool // whether to print JSON
	PrintJSON func(v any) error
	Usage     func(error) error // makes an error one about usage
}

// FileFlag adds the flag that names the file of tokens.
func FileFlag(cmd *cobra.Command, path *string) {
	cmd.PersistentFlags().StringVar(path, "token-file", "", "file of the tokens (tokens.json in the maker folder of your configuration folder)")
}

// Open is the store that a flag names.
func Open(path string) (*access.Store, error) {
	if path == "" {
		var err error
		if path, err = access.DefaultPath(); err != nil {
			return nil, err
		}
	}
	return access.Tokens(path), nil
}

// Command is the command with those below it.
func Command(a App) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Say who may use the server",
		Long: `token makes and revokes what programs come into maker serve with, and the links that
people come by. A token is sent as ` + "`Authorization: Bearer ...`" + `. Only its hash is kept, in a
file that nobody else can read. A server that runs knows of every change at once.`,
		Example: `  maker token new --name ci --scope write
  maker token list
  maker token revoke ci`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	FileFlag(cmd, &path)
	cmd.AddCommand(a.create(&path), a.list(&path), a.revoke(&path), a.link())
	return cmd
}

// order is what a new token is to be like.
type order struct {
	name, scope, runs, expires string
	maxUSD                     float64
}

func (a App) create(path *string) *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a token, and print its secret",
		Long: `new makes a token and prints its secret on stdout, once: nobody can find it out later.

A scope includes those before it. read sees runs; write starts, pauses, resumes, cancels and
removes them; answer answers what they ask, and may set what a maker.yaml needs trust for,
such as --approve. A token sees the runs that it has started and no others, unless it is made
with --runs all. One that only reads starts none: it sees all.

With --max-usd all its runs together may not spend more. What a run may spend is reserved when
it starts, and what it did not spend is given back when it ends.`,
		Example: `  maker token new --name ci --scope write --max-usd 20 --expires 30d
  maker token new --name board --scope read`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := o.token(cmd.Flags().Changed("max-usd"), time.Now())
			if err != nil {
				return a.Usage(err)
			}
			s, err := Open(*path)
			if err != nil {
				return a.Usage(err)
			}
			secret, err := s.New(t)
			if e, ok := errors.AsType[*access.ExistsError](err); ok {
				return a.Usage(fmt.Errorf("--name: %w; revoke it first (maker token revoke %s), or choose another name", err, e.Name))
			}
			if err != nil {
				return a.ofFile(err)
			}
			if a.JSON() {
				return a.PrintJSON(struct {
					shown
					Token string `json:"token"`
				}{describe(t), secret})
			}
			fmt.Fprintf(a.Err, "the token %s is kept as a hash in %s; this is its secret, which is shown only now.\nSend it as the header `Authorization: Bearer ...`, and keep it out of command lines and logs.\n", t.Name, s.Path())
			_, err = fmt.Fprintln(a.Out, secret)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "what it is called; its runs belong to this name")
	f.StringVar(&o.scope, "scope", "", "what it is good for: read, write or answer")
	f.StringVar(&o.runs, "runs", "", "whose runs it sees: own or all (own; all with --scope read)")
	f.Float64Var(&o.maxUSD, "max-usd", 0, "what all its runs together may spend, in dollars (no limit)")
	f.StringVar(&o.expires, "expires", "", "when it ends: 12h, 30d, 2w or a date (never)")
	return cmd
}

// token reads the order.
func (o order) token(limited bool, now time.Time) (access.Token, error) {
	t := access.Token{Name: o.name}
	if err := access.CheckName(o.name); err != nil {
		return t, fmt.Errorf("--name: %w", err)
	}
	if o.scope == "" {
		return t, errors.New("--scope: say what the token is good for: read, write or answer")
	}
	var err error
	if t.Scope, err = access.ParseScope(o.scope); err != nil {
		return t, fmt.Errorf("--scope: %w", err)
	}
	switch o.runs {
	case "all":
		t.AllRuns = true
	case "":
		t.AllRuns = t.Scope == access.Read
	case "own":
		if t.Scope == access.Read {
			return t, errors.New("--runs: a token that only reads starts no runs, and would see none of its own; want all")
		}
	default:
		return t, fmt.Errorf("--runs: %q: want own or all", o.runs)
	}
	if limited {
		if !(o.maxUSD > 0) || o.maxUSD > usage.MaxUSD || math.IsInf(o.maxUSD, 0) {
			return t, fmt.Errorf("--max-usd: %v: want an amount above 0, or leave it out for no limit", o.maxUSD)
		}
		if t.Scope == access.Read {
			return t, errors.New("--max-usd: a token that only reads spends nothing; leave it out")
		}
		t.Budget = &access.Budget{MaxUSD: o.maxUSD}
	}
	if o.expires != "" {
		until, err := moment.Ahead(o.expires, now)
		if err != nil {
			return t, fmt.Errorf("--expires: %w", err)
		}
		until = until.UTC().Truncate(time.Second)
		t.Expires = &until
	}
	return t, nil
}

// ofFile makes errors about the file ones about usage.
func (a App) ofFile(err error) error {
	if _, ok := errors.AsType[*access.OpenFileError](err); ok {
		return a.Usage(err)
	}
	return err
}

// shown is what is shown of a token.
type shown struct {
	Name     string       `json:"name"`
	Scope    access.Scope `json:"scope"`
	Runs     string       `json:"runs"`
	Created  *time.Time   `json:"created,omitempty"`
	LastUsed *time.Time   `json:"last_used,omitempty"`
	Expires  *time.Time   `json:"expires,omitempty"`
	MaxUSD   *float64     `json:"max_usd,omitempty"`
	SpentUSD *float64     `json:"spent_usd,omitempty"`
	LeftUSD  *float64     `json:"left_usd,omitempty"` // what is neither spent nor reserved
}

func describe(t access.Token) shown {
	s := shown{Name: t.Name, Scope: t.Scope, Runs: "own", LastUsed: t.LastUsed, Expires: t.Expires}
	if t.AllRuns {
		s.Runs = "all"
	}
	if !t.Created.IsZero() {
		s.Created = &t.Created
	}
	if b := t.Budget; b != nil {
		left := b.LeftUSD()
		s.MaxUSD, s.SpentUSD, s.LeftUSD = &b.MaxUSD, &b.SpentUSD, &left
	}
	return s
}

func (a App) list(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens",
		Long: `list lists the tokens, oldest first, without their secrets, which nobody knows. When one was
last used is known to within ten minutes.`,
		Example: `  maker token list
  maker token list --json`,
		RunE: func(*cobra.Command, []string) error {
			s, err := Open(*path)
			if err != nil {
				return a.Usage(err)
			}
			all, err := s.List()
			if err != nil {
				return a.ofFile(err)
			}
			if a.JSON() {
				for _, t := range all {
					if err := a.PrintJSON(describe(t)); err != nil {
						return err
					}
				}
				return nil
			}
			if len(all) == 0 {
				fmt.Fprintf(a.Err, "there are no tokens in %s yet; make one: maker token new --name ci --scope write\n", show.Line(s.Path()))
				return nil
			}
			return a.table(all, time.Now())
		},
	}
}

func (a App) table(all []access.Token, now time.Time) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSCOPE\tRUNS\tCREATED\tUSED\tEXPIRES\tBUDGET")
	day := func(t *time.Time, none string) string {
		if t == nil {
			return none
		}
		return t.Local().Format("2006-01-02 15:04")
	}
	for _, t := range all {
		s, budget := describe(t), "-"
		if s.MaxUSD != nil {
			budget = fmt.Sprintf("%.2f of %.2f USD left", *s.LeftUSD, *s.MaxUSD)
		}
		expires := day(s.Expires, "never")
		if t.Expired(now) {
			expires = "expired"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Scope, s.Runs, day(s.Created, "-"), day(s.LastUsed, "never"), expires, budget)
	}
	return w.Flush()
}

func (a App) revoke(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Make a token good for nothing",
		Long: `revoke removes a token. A server that runs refuses it from then on; runs that it has
started go on, and belong to its name: a new token of the same name sees them.`,
		Example: `  maker token revoke ci`,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := Open(*path)
			if err != nil {
				return a.Usage(err)
			}
			err = s.Revoke(args[0])
			if errors.Is(err, access.ErrNoToken) {
				return a.Usage(a.missing(s, args[0]))
			}
			if err != nil {
				return a.ofFile(err)
			}
			fmt.Fprintf(a.Err, "the token %s is revoked\n", args[0])
			return nil
		},
	}
}

// missing says that there is no token of a name, and which there are.
func (a App) missing(s *access.Store, name string) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("there is no token %q, nor any other in %s", name, s.Path())
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return fmt.Errorf("there is no token %q; %s", name, nearest.Among(name, names))
}

func (a App) link() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print a link that logs a person in",
		Long: `link prints a new link to a server that runs on this machine, as the same user. Whoever
opens it within five minutes is logged in; it works once. They may do everything.`,
		Example: `  maker token link
  maker token link --server 7433`,
		RunE: func(*cobra.Command, []string) error {
			dir, err := access.DoorDir()
			if err != nil {
				return a.Usage(err)
			}
			running, err := access.Running(dir)
			if err != nil {
				return err
			}
			at, err := choose(running, server)
			if err != nil {
				return a.Usage(err)
			}
			link, err := at.NewLink()
			if err != nil {
				return err
			}
			if a.JSON() {
				return a.PrintJSON(map[string]any{"link": link, "expires_in_seconds": access.LinkLife.Seconds()})
			}
			fmt.Fprintf(a.Err, "this link works once, within five minutes:\n")
			_, err = fmt.Fprintln(a.Out, link)
			return err
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "which server, if several run: its address or port")
	return cmd
}

// choose finds the server that is meant.
func choose(running []access.At, meant string) (access.At, error) {
	fits := slices.DeleteFunc(slices.Clone(running), func(at access.At) bool {
		return meant != "" && at.URL != strings.TrimSuffix(meant, "/") && !strings.HasSuffix(at.URL, "/"+meant) && !strings.HasSuffix(at.URL, ":"+meant)
	})
	if len(fits) == 1 {
		return fits[0], nil
	}
	var lines strings.Builder
	for _, at := range running {
		fmt.Fprintf(&lines, "\n  %s (process %d, in %s)", at.URL, at.PID, at.Folder)
	}
	switch {
	case len(running) == 0:
		return access.At{}, errors.New("no server of yours runs on this machine; start one: maker serve")
	case len(fits) == 0:
		return access.At{}, fmt.Errorf("--server: no server is %q; these run:%s", meant, lines.String())
	}
	return access.At{}, fmt.Errorf("several servers run; say which with --server:%s", lines.String())
}
