package report

import (
	"fmt"
	"io"

	"github.com/maker-mdap/maker/runs"
)

// Replay says whether a log holds together.
func Replay(w io.Writer, r *runs.Replay) {
	for _, d := range r.Differences {
		fmt.Fprintf(w, "differs: %s\n", d)
	}
	verdict := "agrees with the stored result"
	switch {
	case len(r.Differences) > 0:
		verdict = "does NOT agree"
	case !r.Compared:
		verdict = "is consistent; there is no stored result of this state to compare with"
	}
	fmt.Fprintf(w, "the log of %s %s: %s, %s steps, %s votes recounted\n", r.Result.Run, verdict,
		r.Result.Status, Thousands(r.Result.StepsCompleted), Thousands(r.Races))
}
