package kind

import (
	"context"
	"io"
	"sync"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/math"
	"github.com/maker-mdap/maker/domain/text"
	"github.com/maker-mdap/maker/internal/process/sympy"
)

// The domains that are built in.
const (
	DomainText    = "text"
	DomainDefault = "default" // which is text
	DomainMath    = "math"
)

// adapters are the domains that a run can name.
func adapters(further map[string]domain.Adapter, c config.Solve, ask *algebra) (map[string]domain.Adapter, error) {
	o := &math.Options{Tolerance: c.Tolerance}
	if c.SymPy {
		o.CAS = ask.equal
	}
	numbers, err := math.New(o)
	if err != nil {
		return nil, &config.Error{Field: "tolerance", Err: err}
	}
	all := map[string]domain.Adapter{DomainMath: numbers, DomainText: text.Adapter{}, DomainDefault: text.Adapter{}}
	for name, a := range further {
		if _, taken := all[name]; taken || name == "" || a == nil {
			return nil, config.Errorf("domains", "%q is empty, or the name of a built-in domain, or stands for nothing", name)
		}
		all[name] = a
	}
	return all, nil
}

// algebra asks a computer algebra system, once it is open, and keeps what it said:
// asked again, it might have less time, and votes must not change.
type algebra struct {
	mu   sync.Mutex
	cas  *sympy.CAS
	warn func(string)
	said map[[2]string]relation
}

type relation struct{ equal, known bool }

// open starts SymPy.
func (a *algebra) open(ctx context.Context) (io.Closer, error) {
	cas, err := sympy.New(ctx, nil)
	if err != nil {
		return nil, &config.Error{Field: "sympy", Err: err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cas = cas
	return cas, nil
}

func (a *algebra) equal(x, y string) (equal, known bool) {
	a.mu.Lock() // it answers one question at a time anyway
	defer a.mu.Unlock()
	if a.cas == nil {
		return false, false
	}
	if r, ok := a.said[[2]string{x, y}]; ok {
		return r.equal, r.known
	}
	equal, known, err := a.cas.Equal(context.Background(), x, y) // which has a time limit of its own
	if err != nil {
		a.warn(err.Error())
		equal, known = false, false
	}
	if a.said == nil {
		a.said = map[[2]string]relation{}
	}
	a.said[[2]string{x, y}] = relation{equal, known}
	return equal, known
}
