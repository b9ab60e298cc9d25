package ballot

import (
	"context"
	"testing"

	"github.com/maker-mdap/maker/model"
)

func TestVotersOfOneNameAddUp(t *testing.T) {
	say := func(s string) model.Model {
		return model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			return &model.Response{Text: s, Stop: model.StopEnd}, nil
		})
	}
	hot := 0.9
	b := New([]Voter{{Name: "sim/default", Model: say("x")}, {Name: "sim/default", Temperature: &hot, Model: say("x")}}, readers, nil)
	defer b.Close()
	v, err := b.Decide(t.Context(), question(firstToK(4, 30)), Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Voting.ByModel["sim/default"]["x"] != v.Voting.Votes["x"] {
		t.Errorf("votes %v, by model %v", v.Voting.Votes, v.Voting.ByModel)
	}
}

func TestFaultsBeforeARefusalCount(t *testing.T) {
	n := 0
	m := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		if n++; n == 1 {
			return nil, &model.Error{Kind: model.Refused, Message: "no", Faults: []*model.Error{{Kind: model.RateLimited}, {Kind: model.RateLimited}}}
		}
		return &model.Response{Text: "a", Stop: model.StopEnd}, nil
	})
	v := decide(t, m, nil, question(firstToK(1, 5)))
	if v.Voting.Faults != 2 {
		t.Errorf("faults = %d, want 2: %+v", v.Voting.Faults, v.Voting)
	}
}
