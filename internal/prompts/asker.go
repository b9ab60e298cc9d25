package prompts

import (
	"strings"
	"text/template/parse"

	"github.com/maker-mdap/maker/flow"
)

// An Asker puts questions that differ in nothing but their words, as [Set.Put] does with an
// [Ask] without attachments. Templates are rendered once, where that is all the same.
type Asker struct {
	set          *Set
	instructions []string
	shared       string     // that all framings begin with
	frames       [][]string // of each framing, what stands around the question; nil if a template looks at it
}

// place stands for the question while templates are rendered.
const place = "\x00"

// Asker returns what asks with the instructions of an [Ask].
func (s *Set) Asker(instructions []string) (*Asker, error) {
	a := &Asker{set: s, instructions: instructions}
	f, err := s.Framings(Ask{Question: place, Instructions: instructions})
	if err != nil {
		return nil, err
	}
	var frames [][]string
	for i, name := range s.framings(Ask{}.Prompt()) {
		places, ok := questionPlaces(s.templates[name].Root)
		frame := strings.Split(f.Texts[i][f.Shared:], place)
		if !ok || len(frame) != places+1 {
			return a, nil
		}
		frames = append(frames, frame)
	}
	a.shared, a.frames = f.Texts[0][:f.Shared], frames
	return a, nil
}

// Put has q ask a question.
func (a *Asker) Put(q *flow.Question, question string) error {
	if a.frames == nil {
		return a.set.Put(q, Ask{Question: question, Instructions: a.instructions})
	}
	q.Shared, q.Class, q.Variants = len(a.shared), Ask{}.Prompt(), nil
	for i, frame := range a.frames {
		text := a.shared + strings.TrimSpace(strings.Join(frame, question))
		if i == 0 {
			q.Prompt = text
		}
		if len(a.frames) > 1 {
			q.Variants = append(q.Variants, text)
		}
	}
	return nil
}

// questionPlaces counts where a template of an [Ask] without attachments has the question. It
// is false if there may be more to it than that the question stands there.
func questionPlaces(list *parse.ListNode) (places int, ok bool) {
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			name, args := fieldOf(n.Pipe)
			switch {
			case name == "Question" && len(args) == 0:
				places++
			case name == "Instruction" && allNumbers(args):
			default:
				return 0, false
			}
		case *parse.RangeNode:
			if name, args := fieldOf(n.Pipe); name != "Shown" || len(args) > 0 || n.ElseList != nil {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	return places, true
}

// fieldOf is the field or method of the data that is all of a pipeline, with its arguments.
func fieldOf(p *parse.PipeNode) (name string, args []parse.Node) {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 {
		return "", nil
	}
	field, ok := p.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return "", nil
	}
	return field.Ident[0], p.Cmds[0].Args[1:]
}

func allNumbers(args []parse.Node) bool {
	for _, arg := range args {
		if arg.Type() != parse.NodeNumber {
			return false
		}
	}
	return true
}
