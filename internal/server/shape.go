package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/runs"
)

// A Node is a part of a run: a step of a plan, a problem, a task of an outline.
type Node struct {
	ID     string   `json:"id"`
	Step   *int     `json:"step"` // that it is, if there is one
	Title  string   `json:"title"`
	State  string   `json:"state"`            // planned, running, completed, failed or waiting
	Parent string   `json:"parent,omitempty"` // whose part it is
	Needs  []string `json:"needs"`            // the nodes whose outputs it is given
	Next   []string `json:"next,omitempty"`   // that may come after it, in a plan
	Note   string   `json:"note,omitempty"`   // the solution, the outcome, or why there is none
}

// The states of nodes.
const (
	planned = "planned"
	going   = "running"
	done    = "completed"
	failed  = "failed"
	asking  = "waiting"
)

func (s *Server) getShape(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	nodes := []*Node{}
	if form := run.Form(); form != event.FormChain && form != event.FormRecords && form != event.FormMeasurement { // whose steps are alike
		b := shapes{run: run, byStep: map[int]*Node{}, byPath: map[string]*Node{}}
		for rec, err := range run.Events(0) {
			if err == nil {
				err = b.learn(rec.Event)
			}
			if err != nil {
				return err
			}
		}
		if _, written := run.Writer(); !written { // nothing goes on any more
			for _, n := range b.nodes {
				if n.State == going {
					n.State = planned
				}
			}
		}
		nodes = append(nodes, b.nodes...)
	}
	return give(w, http.StatusOK, Shape{run.Form(), nodes})
}

// shapes builds the shape of a run from its events.
type shapes struct {
	run    *runs.Run
	nodes  []*Node
	byStep map[int]*Node
	byPath map[string]*Node
}

func (b *shapes) learn(e event.Event) error {
	switch e := e.(type) {
	case event.TaskSubmitted:
		if e.Form == event.FormTree {
			b.problem("0", e.Task)
		}
	case event.PlanCreated:
		return b.plan(e.Plan)
	case event.ValidationPassed:
		return b.plan(e.Plan)
	case event.OutlineCreated:
		return b.outline(e.Tasks)
	case event.StepStarted:
		b.step(e.Step, e.Title, going, "")
	case event.StepCompleted:
		b.step(e.Step, e.Title, done, "")
	case event.StepFailed:
		b.step(e.Step, "", failed, e.Reason)
	case event.ClarificationRequested:
		b.step(e.Step, "", asking, e.Text)
	case event.ClarificationProvided:
		if n := b.byStep[e.Step]; n != nil && n.State == asking {
			n.State, n.Note = going, ""
		}
	case event.DecompositionSelected:
		n := b.problem(e.Path, e.Problem.Text())
		if n.State == planned {
			n.State = going
		}
		if !e.Atomic {
			b.problem(e.Path+".0", e.PartA.Text())
			b.problem(e.Path+".1", e.PartB.Text())
		}
	case event.SubproblemSolved:
		b.solved(b.problem(e.Path, e.Problem.Text()), e.Step, e.Solution)
	case event.AnswerComposed:
		b.solved(b.problem(e.Path, ""), e.Step, e.Answer)
	}
	return nil
}

// plan takes a plan; a later one takes the place of what has not been done of the one before.
func (b *shapes) plan(v event.Value) error {
	v, err := b.run.Load(v)
	if err != nil {
		return err
	}
	p, findings := plan.Parse(v.Text())
	if len(findings) > 0 || p == nil {
		return nil // it was rejected
	}
	kept := map[int]*Node{}
	for step, n := range b.byStep {
		if n.State != planned {
			kept[step] = n
		}
	}
	b.nodes, b.byStep = nil, map[int]*Node{}
	makes := map[string]string{}
	for i := range p.Steps {
		s := &p.Steps[i]
		number := s.Number
		n := &Node{ID: strconv.Itoa(number), Step: &number, Title: s.Title, State: planned, Needs: []string{}}
		if was := kept[number]; was != nil && was.Title == n.Title {
			n.State, n.Note = was.State, was.Note
		}
		for _, input := range s.InputVariables {
			name, _, _ := strings.Cut(input, ".")
			if from := makes[name]; from != "" && !slices.Contains(n.Needs, from) {
				n.Needs = append(n.Needs, from)
			}
		}
		if s.NextStep >= 0 {
			n.Next = []string{strconv.Itoa(s.NextStep)}
		}
		makes[s.OutputVariable] = n.ID
		b.nodes, b.byStep[number] = append(b.nodes, n), n
	}
	return nil
}

func (b *shapes) outline(v event.Value) error {
	v, err := b.run.Load(v)
	if err != nil {
		return err
	}
	var tasks []outline.Task
	if json.Unmarshal(v.JSON, &tasks) != nil {
		return nil
	}
	for i := range tasks {
		step := i
		n := &Node{ID: strconv.Itoa(tasks[i].ID), Step: &step, Title: tasks[i].Title(), State: planned, Needs: []string{}}
		if tasks[i].Done {
			n.State = done
		}
		b.nodes, b.byStep[step] = append(b.nodes, n), n
	}
	return nil
}

// step says how a step stands. One of a script, or one that another was split into, is new.
func (b *shapes) step(step int, title, state, note string) {
	if b.run.Form() == event.FormTree {
		return // whose nodes are problems
	}
	n := b.byStep[step]
	if n == nil {
		n = &Node{ID: strconv.Itoa(step), Step: &step, Title: title, Needs: []string{}}
		b.nodes, b.byStep[step] = append(b.nodes, n), n
	}
	if n.Title == "" {
		n.Title = title
	}
	n.State, n.Note = state, clip.Line(note, mostNoted)
}

// mostNoted is how long a note is.
const mostNoted = 500

// problem is the node of a problem, which may be new.
func (b *shapes) problem(path, text string) *Node {
	n := b.byPath[path]
	if n == nil {
		n = &Node{ID: path, State: planned, Needs: []string{}}
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 && b.byPath[path[:dot]] != nil {
			n.Parent = path[:dot]
			parent := b.byPath[path[:dot]]
			parent.Needs = append(parent.Needs, path)
		}
		b.nodes, b.byPath[path] = append(b.nodes, n), n
	}
	if text != "" && text != "null" {
		n.Title = clip.Line(text, mostNoted)
	}
	return n
}

func (b *shapes) solved(n *Node, step int, solution event.Value) {
	text := solution.Text()
	if full, ok := runs.ReadAnswer(solution); ok {
		text = full.Answer
	}
	n.State, n.Step, n.Note = done, &step, clip.Line(text, mostNoted)
}
