package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/outline"
)

func noLoad(v event.Value) (event.Value, error) { return v, nil }

// created is the event that begins an outline.
func created(t testing.TB, text string) event.OutlineCreated {
	t.Helper()
	list, err := outline.PlanTasks(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := outline.NewPlanner(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := json.Marshal(p.State.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	return event.OutlineCreated{Tasks: event.JSONValue(tasks)}
}

func TestChecklist(t *testing.T) {
	for _, color := range []bool{false, true} {
		s := &terminal{t: t, width: 60, height: 20}
		v := s.view(color)
		v.list.take(created(t, "- [x] Old.\n- Look.\n- Ask.\n- Fail.\n- Rest."), noLoad)
		draw := func() { v.redraw(append(v.list.lines(v.height()-3, v.paint), "status")) }
		v.line("run do-1")
		draw()
		check := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, s.text()); diff != "" {
				t.Errorf("%s: -want +got\n%s", when, diff)
			}
		}
		check("at first", "run do-1", "[x] 1. Old.", "[ ] 2. Look.", "[ ] 3. Ask.", "[ ] 4. Fail.", "[ ] 5. Rest.", "status")

		for _, e := range []event.Event{
			event.StepStarted{Step: 1}, event.StepCompleted{Step: 1},
			event.StepStarted{Step: 2}, event.ClarificationRequested{Step: 2}, event.ClarificationProvided{Step: 2}, event.StepCompleted{Step: 2},
			event.StepStarted{Step: 3}, event.StepFailed{Step: 3},
			event.StepStarted{Step: 4}, event.ClarificationRequested{Step: 4},
			event.StepStarted{Step: 99}, // of no task that there is
		} {
			v.list.take(e, noLoad)
			v.line("  said " + string(e.Type()))
		}
		v.line("a line that is so long that the terminal has to wrap it, because nobody cuts it")
		draw()
		want := []string{"run do-1"}
		for _, e := range strings.Fields("step_started step_completed step_started clarification_requested clarification_provided step_completed step_started step_failed step_started clarification_requested step_started") {
			want = append(want, "  said "+e)
		}
		want = append(want, "a line that is so long that the terminal has to wrap it, bec", "ause nobody cuts it",
			"[x] 1. Old.", "[x] 2. Look.", "[x] 3. Ask.", "[!] 4. Fail.", "[?] 5. Rest.", "status")
		check("in the end", want...)

		before := s.writes
		draw()
		if s.writes != before {
			t.Error("redraw() writes although nothing has changed")
		}
		v.redraw([]string{"status"})
		check("with fewer lines", append(want[:len(want)-6:len(want)-6], "status")...)
		v.clear()
		check("after the end", want[:len(want)-6]...)
	}
}

// TestChecklistBeforeAQuestion: the list stays above the question, and goes on below.
func TestChecklistBeforeAQuestion(t *testing.T) {
	s := &terminal{t: t, width: 60, height: 20}
	v := s.view(false)
	v.asked = make(chan struct{}, 1)
	v.list.take(created(t, "- One.\n- Two."), noLoad)
	v.redraw(append(v.list.lines(17, v.paint), "status"))
	v.list.take(event.ClarificationRequested{Step: 1}, noLoad)
	v.asked <- struct{}{}
	v.Pause()
	fmt.Fprint(s, "\ntask 2: Which?\nanswer> ")
	v.line("while somebody is asked")
	fmt.Fprint(s, "this\n")
	v.Resume()
	v.redraw(append(v.list.lines(17, v.paint), "status"))
	want := []string{"[ ] 1. One.", "[?] 2. Two.", "", "task 2: Which?", "answer> this", "while somebody is asked", "[ ] 1. One.", "[?] 2. Two.", "status"}
	if diff := cmp.Diff(want, s.text()); diff != "" {
		t.Errorf("the screen: -want +got\n%s", diff)
	}
}

// TestChecklistWindow: of many tasks those around the current one are shown, on a
// screen of any height, and the rest is counted.
func TestChecklistWindow(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "- Do part %d.\n", i+1)
	}
	for height := 2; height < 30; height++ {
		s := &terminal{t: t, width: 40, height: height}
		v := s.view(true)
		v.list.take(created(t, text.String()), noLoad)
		for step := range 100 {
			v.list.take(event.StepStarted{Step: step}, noLoad)
			lines := append(v.list.lines(height-3, func(_, s string) string { return s }), countTasks(v.list.tasks))
			if height >= fewestRows+3 {
				if current := fmt.Sprintf("[>] %d. Do part %d.", step+1, step+1); !strings.Contains(strings.Join(lines, "\n"), current) {
					t.Fatalf("in %d rows task %d is not shown:\n%s", height, step+1, strings.Join(lines, "\n"))
				}
			} else if len(lines) != 1 {
				t.Fatalf("in %d rows there are %d lines, want the status only", height, len(lines))
			}
			if len(lines) > max(1, height-2) || len(lines) > mostTasks+1 {
				t.Fatalf("in %d rows there are %d lines:\n%s", height, len(lines), strings.Join(lines, "\n"))
			}
			v.redraw(lines)
			if step%3 == 0 {
				v.line("something happened")
			}
			v.list.take(event.StepCompleted{Step: step}, noLoad)
		}
	}
	list := &checklist{current: 50}
	for i := range 100 {
		list.tasks = append(list.tasks, checkItem{id: i + 1, title: "x", status: outline.StatusPlanned})
	}
	for i := range 50 {
		list.tasks[i].status = outline.StatusCompleted
	}
	list.tasks[3].status = outline.StatusFailed
	list.tasks[50].status = outline.StatusRunning
	want := []string{"  … 47 done, 1 failed", "[x] 49. x", "[x] 50. x", "[>] 51. x", "[ ] 52. x", "[ ] 53. x", "[ ] 54. x", "  … 46 to do"}
	if diff := cmp.Diff(want, list.lines(8, func(_, s string) string { return s })); diff != "" {
		t.Errorf("lines(8): -want +got\n%s", diff)
	}
}

// TestChecklistKeepsTitlesInTheirPlace: titles are what people and models write.
func TestChecklistKeepsTitlesInTheirPlace(t *testing.T) {
	for width := 1; width < 40; width++ {
		s := &terminal{t: t, width: width, height: 20}
		v := s.view(true)
		v.list.take(created(t, "- Write \x1b[2Jtests 写测试在这里，越多越好。\n- e\u0301t\u0301e\u0301 and a 👍 and so on and on and on."), noLoad)
		for range 2 {
			v.redraw(v.list.lines(17, v.paint))
			v.drawn = "" // so that it draws again
		}
		if len(s.rows) != 3 { // with that of the cursor
			t.Errorf("on %d columns the screen is %q, want 2 lines", width, s.text())
		}
	}
}

func TestChecklistWithoutTasks(t *testing.T) {
	v := (&terminal{t: t, width: 40, height: 20}).view(false)
	for _, e := range []event.Event{
		event.StepStarted{Step: 0}, event.OutlineCreated{Tasks: event.TextValue("no list")},
	} {
		v.list.take(e, noLoad)
	}
	v.list.take(created(t, "- a"), func(event.Value) (event.Value, error) { return event.Value{}, errors.New("lost") })
	if len(v.list.tasks) != 0 || v.list.shows(event.StepStarted{}) {
		t.Errorf("the list has %d tasks, want none, and every event its line", len(v.list.tasks))
	}
	v.leaveList()
}
