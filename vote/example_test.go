package vote_test

import (
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/vote"
)

// The leader needs to be three ahead, so one dissenting vote costs two more.
func ExampleTally() {
	tally := vote.NewTally(vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20})
	for _, key := range []string{"right", "wrong", "right", "right", "right"} {
		tally.Vote(key)
		d := tally.Decision()
		fmt.Printf("%-5s  %s, needs %d more\n", key, d.Outcome, d.Need)
	}
	fmt.Printf("%q won by %d\n", tally.Decision().Key, tally.Margin())
	// Output:
	// right  open, needs 2 more
	// wrong  open, needs 3 more
	// right  open, needs 2 more
	// right  open, needs 1 more
	// right  won, needs 0 more
	// "right" won by 3
}

// A race that reaches its cap has no winner, even if one answer is ahead.
func ExampleTally_stuck() {
	tally := vote.NewTally(vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 4})
	tally.Vote("a")
	tally.Vote("a")
	tally.Flag()
	tally.Vote("b")
	fmt.Println(tally.Decision().Outcome, tally.Counts())
	// Output: stuck [{a 2} {b 1}]
}

// A model that is right 99.78 % of the time, on the 20 disks of Hanoi.
func ExampleMinK() {
	const p, valid, steps = 0.9978, 0.968, 1<<20 - 1
	k, err := vote.MinK(p, steps, 0.95)
	fmt.Println(k, err)
	fmt.Printf("without a vote: %.3g\n", vote.RunSuccess(p, 1, steps))
	fmt.Printf("with it: %.3f\n", vote.RunSuccess(p, k, steps))
	fmt.Printf("samples per step: %.2f\n", vote.ExpectedSamples(p, valid, k))

	_, err = vote.MinK(0.5, steps, 0.95)
	fmt.Println(errors.Is(err, vote.ErrNoMargin))
	// Output:
	// 3 <nil>
	// without a vote: 0
	// with it: 0.989
	// samples per step: 3.11
	// true
}

func ExampleShortKey() {
	fmt.Println(vote.ShortKey(`{"move":[1,0,2]}`))
	fmt.Println(vote.ShortKey(fmt.Sprintf("%100d", 1)))
	// Output:
	// {"move":[1,0,2]}
	// sha256:e9d51ece0c12b7be512c6d25afe54618
}
