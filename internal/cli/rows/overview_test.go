package rows

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/runs"
)

func TestOverview(t *testing.T) {
	p := &runs.RecordParams{Columns: []string{"subject"}}
	o := &runs.RecordOverview{
		Records: 50, Answered: 49, Answers: map[string]int{`"billing"`: 22, `"bug"`: 22, `{"queue":"other"}`: 2}, OtherAnswers: 3, Contested: 1003,
		Split: []runs.RecordResult{
			{Number: 16, Line: 1200, Status: "undecided", Voting: event.Voting{Votes: map[string]int{`"bug"`: 3, `"billing"`: 3}}},
			{Number: 2, Line: 9, Status: "decided", Output: event.TextValue("billing"), Voting: event.Voting{Votes: map[string]int{"billing": 4, "bug": 1}}},
		},
	}
	for width, want := range map[int]string{
		0: `
Answers to 50 records:
       22  44 %  billing
       22  44 %  bug
        2   4 %  {"queue":"other"}
        3   6 %  others
        1   2 %  no answer
Contested (1,003 records): votes, answer, and what others wanted
  record 17 (line 1,200) 3-3: no answer; 3 votes for billing; 3 votes for bug
  record 3 (line 9) 4-1: billing; 1 vote for "bug" instead of "billing"
  and 1,001 more: maker show map-20260102-030405-abcde --contested
`,
		40: `
Answers to 50 records:
       22  44 %  billing
       22  44 %  bug
        2   4 %  {"queue":"other"}
        3   6 %  others
        1   2 %  no answer
Contested (1,003 records): votes, answ…
  record 17 (line 1,200) 3-3: no answer
    3 votes for billing
    3 votes for bug
  record 3 (line 9) 4-1: billing
    1 vote for "bug" instead of "billi…
  and 1,001 more: maker show map-20260102-030405-abcde --contested
`,
	} {
		var b bytes.Buffer
		printOverview(&b, p, o, "maker show map-20260102-030405-abcde --contested", width)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("on %d columns: -want +got\n%s", width, diff)
		}
	}
}

// TestOverviewFits: whatever others wrote, each line stays one and within the screen.
func TestOverviewFits(t *testing.T) {
	hostile := "写测试\n\x1b[2J" + strings.Repeat("越多越好", 40)
	o := &runs.RecordOverview{
		Records: 1, Answered: 1, Answers: map[string]int{event.TextValue(hostile).Compact(): 1}, Contested: 1,
		Split: []runs.RecordResult{{
			Status: "decided", Output: event.TextValue(hostile), Values: map[string]any{"file": hostile},
			Voting: event.Voting{Votes: map[string]int{hostile: 3, "other " + hostile: 2}},
		}},
	}
	for _, columns := range [][]string{{"subject"}, {"file", "text"}} {
		for _, width := range []int{21, 40, 80, 120} {
			var b bytes.Buffer
			printOverview(&b, &runs.RecordParams{Columns: columns}, o, "maker show", width)
			lines := strings.Split(strings.TrimSpace(b.String()), "\n")
			if len(lines) != 5 {
				t.Errorf("on %d columns there are %d lines, want 5:\n%s", width, len(lines), b.String())
			}
			for _, line := range lines {
				if screen.Width(line) >= width || strings.Contains(line, "\x1b") {
					t.Errorf("on %d columns: %q", width, line)
				}
			}
		}
	}
}
