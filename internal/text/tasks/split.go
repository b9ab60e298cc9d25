package tasks

import (
	"cmp"
	"slices"
	"strings"
)

// Split takes a text apart into tasks, in the order in which they are to be done.
// The package comment has its rules. The same text always gives the same tasks.
func Split(text string) []Task { return split(text).tasks() }

// A draft is a task that may still grow.
type draft struct {
	rows    []string
	context []string
	line    int
	done    bool
	shell   bool // it ends in a fence for a shell
}

// An intro is a text that introduces tasks: a heading, a lead-in, a parent item.
type intro struct {
	text string
	line int
	used bool // it is the context of a task, or a task itself

	level  int // of a heading
	indent int // of an item
	depth  int // with what it has by its place
	block  *block
	done   bool
	draft  *draft // of an item that is a task too
}

// splitter puts the blocks of a text together.
type splitter struct {
	drafts []*draft
	heads  []*intro
	leads  []*intro
	items  []*intro

	// current is what a code block belongs to.
	current *draft

	kept    []string // every text that is context only, once
	dropped []string // every mark that is part of no task
}

func split(text string) *splitter {
	blocks, dropped := readBlocks(normalise(text))
	s := &splitter{dropped: dropped}
	for i := range blocks {
		b := &blocks[i]
		var next *block
		if i+1 < len(blocks) {
			next = &blocks[i+1]
		}
		switch b.kind {
		case heading:
			s.heading(b)
		case item:
			s.item(b, next, i > 0 && blocks[i-1].kind == item)
		case paragraph:
			s.paragraph(b, next)
		case prompt:
			s.prompt(b)
		case verbatim:
			s.verbatim(b)
		}
	}
	s.closeItems(0, 0)
	s.closeLeads()
	s.closeHeads(0)
	return s
}

// add makes a draft below everything that is open.
func (s *splitter) add(rows []string, line int, done bool) *draft {
	d := &draft{rows: rows, line: line, done: done}
	above := slices.Concat(s.heads, s.leads, s.items)
	slices.SortStableFunc(above, func(a, b *intro) int { return cmp.Compare(a.line, b.line) })
	for _, in := range above {
		d.context = append(d.context, in.text)
		s.use(in)
	}
	s.drafts = append(s.drafts, d)
	s.current = d
	return d
}

func (s *splitter) use(in *intro) {
	if !in.used {
		in.used = true
		s.kept = append(s.kept, in.text)
	}
}

// taskOf makes a task of an intro that introduced nothing.
func (s *splitter) taskOf(in *intro) {
	in.used = true
	s.add([]string{in.text}, in.line, in.done)
}

func (s *splitter) heading(b *block) {
	s.closeItems(0, 0)
	s.closeLeads()
	s.closeHeads(b.level)
	s.heads = append(s.heads, &intro{text: b.text(), line: b.line, level: b.level})
	s.current = nil
}

// closeHeads closes the headings from a level on.
func (s *splitter) closeHeads(level int) {
	s.close(&s.heads, func(in *intro) bool { return in.level < level })
}

func (s *splitter) closeLeads() { s.closeLeadsAfter(0) }

// closeLeadsAfter closes the lead-ins below a line.
func (s *splitter) closeLeadsAfter(line int) {
	s.close(&s.leads, func(in *intro) bool { return in.line <= line })
}

// close closes intros, the last one first, until one stays.
func (s *splitter) close(list *[]*intro, stays func(*intro) bool) {
	for n := len(*list) - 1; n >= 0 && !stays((*list)[n]); n-- {
		in := (*list)[n]
		*list = (*list)[:n]
		if !in.used {
			s.taskOf(in)
		}
	}
}

// closeItems closes the items that one with this indentation and depth ends.
func (s *splitter) closeItems(indent, depth int) {
	s.close(&s.items, func(in *intro) bool {
		stays := nests(indent, depth, in)
		if !stays {
			s.closeLeadsAfter(in.line)
		}
		return stays
	})
}

// nests reports whether an item is below another one. A column more or less is
// careless, not nested.
func nests(indent, depth int, in *intro) bool {
	return indent >= in.indent+2 || indent > in.indent-2 && depth > in.depth
}

func (s *splitter) item(b, next *block, adjacent bool) {
	depth := s.depthOf(b, adjacent)
	s.closeItems(b.indent, depth)
	in := &intro{text: strings.TrimSpace(b.text()), line: b.line, indent: b.indent, depth: depth, block: b}
	in.done = b.done()
	if n := len(s.items); n > 0 && s.items[n-1].done && b.marker.box == noBox {
		in.done = in.done || s.items[n-1].block.owns(b)
	}
	s.current = nil
	introduces := strings.HasSuffix(in.text, ":") && next != nil && next.kind == item && s.below(next, in)
	if in.text != "" && !introduces {
		in.draft = s.add(b.rows, b.line, in.done)
		in.used = true
	}
	if in.text != "" {
		s.items = append(s.items, in)
	}
}

// depthOf is how deep an item is by its mark. Without a blank line between them,
// a bullet just below a number is below it in rank as well.
func (s *splitter) depthOf(b *block, adjacent bool) int {
	depth := b.marker.depth
	if b.apart || !adjacent {
		return depth
	}
	for _, in := range slices.Backward(s.items) {
		if b.indent >= in.indent+2 || b.indent <= in.indent-2 {
			continue
		}
		switch {
		case in.block.marker.style.family() == b.marker.style.family():
			return depth + in.depth - in.block.marker.depth
		case in.block.marker.style.family() == number:
			return depth + in.depth
		}
	}
	return depth
}

// below reports whether the next item will be below in.
func (s *splitter) below(next *block, in *intro) bool {
	s.items = append(s.items, in)
	depth := s.depthOf(next, true)
	s.items = s.items[:len(s.items)-1]
	return nests(next.indent, depth, in)
}

// isStruck reports whether a text is crossed out as a whole.
func isStruck(text string) bool {
	inner, ok := strings.CutPrefix(text, "~~")
	inner, ok2 := strings.CutSuffix(inner, "~~")
	return ok && ok2 && inner != "" && !strings.Contains(inner, "~~")
}

func (s *splitter) paragraph(b, next *block) {
	s.closeItems(b.indent, 0)
	if n := len(s.items); n > 0 && s.items[n-1].draft != nil && s.items[n-1].draft == s.current {
		// It goes on with the item.
		if b.apart {
			s.current.rows = append(s.current.rows, "")
		}
		s.current.rows = append(s.current.rows, b.rows...)
		s.current.shell = false
		return
	}
	p := newProse(b.text())
	pieces := p.sentences()
	s.dropped = append(s.dropped, p.dropped...)
	if !p.says(span{0, len(p.text)}) && s.current != nil {
		s.current.rows = append(s.current.rows, b.rows...)
		return
	}
	last := len(pieces) - 1
	introduces := next != nil && pieces[last].introduces(next.kind)
	s.closeUsedLeads()
	for i, part := range pieces {
		if part.lead || i == last && introduces {
			s.closeUsedLeads()
			s.leads = append(s.leads, &intro{text: part.text, line: b.line + part.line})
			continue
		}
		s.add(strings.Split(part.text, "\n"), b.line+part.line, s.inDone())
	}
	if !introduces {
		s.closeLeads()
		// An instruction right above a list is a task, and the list is about it.
		if part := &pieces[last]; next != nil && next.kind == item && !next.apart && !part.isSentence() {
			s.leads = append(s.leads, &intro{text: part.text, line: b.line + part.line, used: true})
		}
	}
}

// isSentence reports whether a piece ends as a sentence does.
func (p *piece) isSentence() bool {
	return strings.ContainsRune(sentenceEnds+"。！？,;", lastRune(strings.TrimRight(p.text, closingMarks)))
}

// introduces reports whether a piece is about what comes after it: it ends in a
// colon, or it is a title above a list, which is neither a sentence nor an
// instruction.
func (p *piece) introduces(next blockKind) bool {
	switch {
	case next != item && next != paragraph && next != prompt:
		return false
	case strings.HasSuffix(p.text, ":"), strings.HasSuffix(p.text, "："):
		return true
	}
	words := instruction(plainWords(p.text, maxLead))
	return next == item && !p.isSentence() && len(words) > 0 && !isInstruction(words[0])
}

// closeUsedLeads closes lead-ins unless they still wait for what they introduce:
// "Plan:" and then "Backend:" are both above the tasks that follow.
func (s *splitter) closeUsedLeads() {
	if n := len(s.leads); n > 0 && s.leads[n-1].used {
		s.closeLeads()
	}
}

// inDone reports whether what comes next is below an item that is done.
func (s *splitter) inDone() bool {
	n := len(s.items)
	return n > 0 && s.items[n-1].done
}

func (s *splitter) prompt(b *block) {
	s.closeItems(b.indent, 0)
	if len(s.items) > 0 && s.current != nil && s.current == s.items[len(s.items)-1].draft {
		s.current.rows = append(s.current.rows, b.rows...)
		return
	}
	s.add(b.rows, b.line, s.inDone())
}

func (s *splitter) verbatim(b *block) {
	nested := len(s.items) > 0 && b.indent > s.items[len(s.items)-1].indent
	if s.current != nil && s.current.done {
		nested = len(s.items) > 0 && s.items[len(s.items)-1].block.owns(b)
	}
	if s.current == nil || (s.current.done || b.shell && s.current.shell) && !nested {
		if !nested {
			s.closeItems(b.indent, 0)
		}
		s.add(slices.Clone(b.rows), b.line, s.inDone()).shell = b.shell
		return
	}
	s.current.rows = append(s.current.rows, b.rows...)
	s.current.shell = b.shell
}

// tasks makes tasks of the drafts. The answer to a question may be that a command
// after it shall not run; so one in the same part of the text is not taken as
// literal.
func (s *splitter) tasks() []Task {
	tasks := make([]Task, 0, len(s.drafts))
	var question *Task // the last one
	for i, d := range s.drafts {
		t := Task{Text: strings.Trim(strings.Join(d.rows, "\n"), "\n"), Context: d.context, Line: d.line, Done: d.done}
		t.classify()
		if question != nil && slices.Equal(question.Context, t.Context) {
			t.Command = ""
		}
		tasks = append(tasks, t)
		if t.Kind == Clarification && !t.Done {
			question = &tasks[i]
		}
	}
	return tasks
}
