package budget

import (
	"context"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// An answer that broke on its way (HTTP 200, then EOF) is billed.
func TestBrokenAnswersAreHeld(t *testing.T) {
	l := New(Limits{MaxUSD: 0.001}, usage.Spent{})
	m := l.Wrap(always(nil, &model.Error{Kind: model.Transient, Status: 200, Message: "the connection broke: unexpected EOF"}), &testPrice)
	n := 0
	for ; n < 1000; n++ {
		if _, err := m.Generate(t.Context(), question()); model.KindOf(err) != model.Transient || l.Spent().HeldUSD > 0 {
			break
		}
	}
	t.Logf("%d broken answers, spent %+v", n, l.Spent())
	if n == 1000 {
		t.Errorf("a budget of $0.001 let 1000 calls with a worst case of $0.0003 through: %+v", l.Spent())
	}
}

// A server without usage: the first session keeps max_usd, the resume is refused.
func TestUnreportedUsageDoesNotBlockResume(t *testing.T) {
	l := New(Limits{MaxUSD: 0.0004}, usage.Spent{})
	m := l.Wrap(always(answer(0, 0), nil), &testPrice)
	if _, err := m.Generate(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), question()); err == nil {
		t.Fatal("want exhausted")
	}
	if err := New(Limits{MaxUSD: 1}, l.Spent()).Check(&testPrice); err != nil {
		t.Errorf("resume with a larger budget: %v", err)
	}
}

type two struct{ model.Func }

func (two) GenerateN(context.Context, *model.Request, int) ([]*model.Response, error) {
	// openai's spread: all input to the first; an empty second answer rounds to 0 tokens
	return []*model.Response{answer(30, 20), answer(0, 0)}, nil
}

func TestAnEmptyAnswerOfABatchIsPriced(t *testing.T) {
	l := New(Limits{MaxUSD: 1}, usage.Spent{})
	m := l.Wrap(two{}, &testPrice).(model.Batcher)
	if _, err := m.GenerateN(t.Context(), question(), 2); err != nil {
		t.Fatal(err)
	}
	if s := l.Spent(); s.Unpriced != 0 || s.HeldUSD != 0 {
		t.Errorf("usage of the call is known, but %+v", s)
	}
}
