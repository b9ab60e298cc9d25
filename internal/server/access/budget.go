package access

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/maker-mdap/maker/usage"
)

// A Budget is what all runs of a token together may spend. What a run may spend is reserved
// when it starts and settled when it ends, so that the limit holds whatever happens between.
type Budget struct {
	MaxUSD   float64       `json:"max_usd"`
	SpentUSD float64       `json:"spent_usd"` // by what has been settled
	Open     []Reservation `json:"open,omitempty"`
}

// LeftUSD is what has neither been spent nor reserved.
func (b *Budget) LeftUSD() float64 {
	left := usage.AddUSD(b.MaxUSD, -b.SpentUSD)
	for _, r := range b.Open {
		left = usage.AddUSD(left, -r.USD)
	}
	return left
}

// A Reservation is what a run may spend while it goes on once.
type Reservation struct {
	ID        string    `json:"id"`
	Place     string    `json:"place"`         // the folder of runs
	Run       string    `json:"run,omitempty"` // once it has begun
	USD       float64   `json:"usd"`
	BeforeUSD float64   `json:"before_usd,omitempty"` // what the run had cost already
	Since     time.Time `json:"since"`
}

// A SpentError says that nothing is left of a budget.
type SpentError struct {
	Token  string
	Budget Budget
}

func (e *SpentError) Error() string {
	text := fmt.Sprintf("nothing is left of the budget of the token %s: it has spent %.2f of %.2f USD", e.Token, e.Budget.SpentUSD, e.Budget.MaxUSD)
	if n := len(e.Budget.Open); n > 0 {
		held := 0.0
		for _, r := range e.Budget.Open {
			held = usage.AddUSD(held, r.USD)
		}
		text += fmt.Sprintf(", and %.2f USD are reserved by %d runs that go on (a run takes max_usd of its settings, and without it all that is left)", held, n)
	}
	return text
}

// Reserve takes from the budget of a token what a run wants to spend, or what is left if that is
// less; 0 wants everything. Without a budget there is nothing to reserve, and the reservation is
// empty.
func (s *Store) Reserve(token, place string, want, before float64) (Reservation, error) {
	r := Reservation{ID: rand.Text(), Place: place, BeforeUSD: before, Since: s.now().UTC().Truncate(time.Second)}
	err := s.update(func(list []Token) ([]Token, error) {
		return list, change(list, token, func(t *Token) error {
			if t.Budget == nil {
				r = Reservation{}
				return errUnchanged
			}
			left := t.Budget.LeftUSD()
			if left <= 0 {
				return &SpentError{token, *t.Budget}
			}
			r.USD = left
			if want > 0 {
				r.USD = min(want, left)
			}
			t.Budget.Open = append(t.Budget.Open, r)
			return nil
		})
	})
	return r, err
}

// Bind says which run a reservation is for.
func (s *Store) Bind(token, id, run string) error {
	return s.ofReservation(token, id, func(b *Budget, i int) { b.Open[i].Run = run })
}

// Settle ends a reservation. The cost is that of the whole run; if nobody knows it, all that was
// reserved counts as spent.
func (s *Store) Settle(token, id string, costUSD *float64) error {
	return s.ofReservation(token, id, func(b *Budget, i int) {
		r := b.Open[i]
		spent := r.USD
		if costUSD != nil {
			spent = usage.AddUSD(*costUSD, -r.BeforeUSD)
		}
		b.SpentUSD = usage.AddUSD(b.SpentUSD, spent)
		b.Open = slices.Delete(b.Open, i, i+1)
	})
}

// Release ends a reservation of a run that never began.
func (s *Store) Release(token, id string) error {
	return s.ofReservation(token, id, func(b *Budget, i int) { b.Open = slices.Delete(b.Open, i, i+1) })
}

func (s *Store) ofReservation(token, id string, f func(b *Budget, i int)) error {
	return s.update(func(list []Token) ([]Token, error) {
		return list, change(list, token, func(t *Token) error {
			if t.Budget == nil {
				return errUnchanged
			}
			i := slices.IndexFunc(t.Budget.Open, func(r Reservation) bool { return r.ID == id })
			if i < 0 {
				return errUnchanged
			}
			f(t.Budget, i)
			return nil
		})
	})
}
