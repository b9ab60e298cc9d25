package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/model"
)

// A family is many questions of one kind, each with a known answer.
type family struct {
	Name        string      `json:"-"`
	About       string      `json:"about"`
	Reader      string      `json:"reader"`            // how an answer is read: name, number or choice
	Choices     []string    `json:"choices,omitempty"` // of the reader choice
	Instruction string      `json:"instruction"`       // what a chat model is told first
	Preamble    string      `json:"preamble,omitempty"`
	Marker      string      `json:"marker,omitempty"`     // what stands between the work and its result, if work is shown
	MaxTokens   int         `json:"max_tokens,omitempty"` // of an answer with its work
	Wordings    []string    `json:"wordings"`             // of the question; its fields are in braces, the answer follows
	ExampleSets [][]example `json:"example_sets"`
	Items       []item      `json:"-"`
}

// An example is a question that is shown with its answer.
type example struct {
	Fields map[string]string `json:"fields"`
	Answer string            `json:"answer"`
}

// An item is a question that is asked.
type item struct {
	ID      string            `json:"id"`
	Fields  map[string]string `json:"fields"`
	Answers []string          `json:"answers"` // that are right
}

// readFamilies reads all families of a folder, in the order of their names.
func readFamilies(folder string) ([]*family, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no families in %s", folder)
	}
	var all []*family
	for _, file := range files {
		f, err := readFamily(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func readFamily(file string) (*family, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := &family{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
	if err := strictly(data, f); err != nil {
		return nil, err
	}
	items, err := os.ReadFile(file + "l")
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(items)); lines.Scan(); {
		var i item
		if err := strictly(lines.Bytes(), &i); err != nil {
			return nil, fmt.Errorf("item %d: %w", len(f.Items)+1, err)
		}
		f.Items = append(f.Items, i)
	}
	return f, f.check()
}

// strictly reads one JSON value that has no fields but those of its type.
func strictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// check finds what would spoil a measurement without a sign of it.
func (f *family) check() error {
	shown := map[string]bool{}
	if len(f.Items) == 0 || len(f.Wordings) == 0 || len(f.ExampleSets) == 0 {
		return errors.New("it has no items, no wordings or no examples")
	}
	for n, set := range f.ExampleSets {
		for _, e := range set {
			question := f.render(f.Wordings[0], e.Fields)
			if shown[question] {
				return fmt.Errorf("example set %d shows %v, which is shown already", n, e.Fields)
			}
			shown[question] = true
			if _, ok := f.read(e.Answer); !ok {
				return fmt.Errorf("the answer %q of example set %d is none", e.Answer, n)
			}
		}
	}
	ids := map[string]bool{}
	for _, i := range f.Items {
		question := f.render(f.Wordings[0], i.Fields)
		switch {
		case ids[i.ID]:
			return fmt.Errorf("there are two items %s", i.ID)
		case shown[question]:
			return fmt.Errorf("item %s is an example too, or is there twice", i.ID)
		case len(i.Answers) == 0:
			return fmt.Errorf("item %s has no answer", i.ID)
		}
		ids[i.ID] = true
		shown[question] = true
		for _, wording := range f.Wordings {
			if left := placeholder.FindString(f.render(wording, i.Fields)); left != "" {
				return fmt.Errorf("item %s has no field %s", i.ID, left)
			}
		}
		for _, answer := range i.Answers {
			if _, ok := f.key(answer); !ok {
				return fmt.Errorf("the answer %q of item %s is none", answer, i.ID)
			}
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// render puts fields into a wording.
func (f *family) render(wording string, fields map[string]string) string {
	return placeholder.ReplaceAllStringFunc(wording, func(name string) string {
		if value, ok := fields[name[1:len(name)-1]]; ok {
			return value
		}
		return name
	})
}

// A form is how a model wants to be asked.
type form string

const (
	chat form = "chat" // in turns
	text form = "text" // as a text to go on with, which is all that a base model knows
)

// request asks an item in one of the wordings, after one of the sets of examples.
func (f *family) request(as form, i *item, wording, examples int) *model.Request {
	words := f.Wordings[wording]
	r := &model.Request{MaxOutput: cmp.Or(f.MaxTokens, oneLineTokens)}
	if as == text {
		if f.Reader == "choice" {
			r.MaxOutput = choiceTokens
		}
		var b strings.Builder
		b.WriteString(f.Preamble)
		for _, e := range f.ExampleSets[examples] {
			fmt.Fprintf(&b, "%s %s\n\n", f.render(words, e.Fields), e.Answer)
		}
		b.WriteString(f.render(words, i.Fields))
		r.Messages = []model.Message{{Role: model.User, Text: b.String()}}
		return r
	}
	r.System = f.Preamble + f.Instruction
	for _, e := range f.ExampleSets[examples] {
		r.Messages = append(r.Messages,
			model.Message{Role: model.User, Text: f.render(words, e.Fields)},
			model.Message{Role: model.Assistant, Text: e.Answer})
	}
	r.Messages = append(r.Messages, model.Message{Role: model.User, Text: f.render(words, i.Fields)})
	return r
}

var (
	number = regexp.MustCompile(`-?[0-9][0-9,]*`)
	word   = regexp.MustCompile(`\pL+`)
)

// maxName is longer than any name that is asked for: what is longer is prose.
const maxName = 40

// read returns the key under which an answer is counted, and whether it is one at
// all: what is none is a red flag and no vote.
func (f *family) read(answer string) (key string, ok bool) {
	line, _, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	if f.Marker != "" {
		if _, line, ok = strings.Cut(line, f.Marker); !ok {
			return "", false
		}
	}
	return f.key(line)
}

// key reads a line that has no work in it.
func (f *family) key(line string) (key string, ok bool) {
	line = strings.ToLower(line)
	switch f.Reader {
	case "number":
		key = strings.ReplaceAll(number.FindString(line), ",", "")
		return key, key != ""
	case "choice":
		for _, w := range word.FindAllString(line, -1) {
			if slices.Contains(f.Choices, w) {
				return w, true
			}
		}
		return "", false
	case "name":
		line = strings.ReplaceAll(line, "d.c.", "dc")
		line, _, _ = strings.Cut(line, ",")
		line, _, _ = strings.Cut(line, "(")
		line, _, _ = strings.Cut(line, ".")
		key = strings.Join(word.FindAllString(line, -1), " ")
		if len(key) > maxName {
			return "", false
		}
		return key, key != ""
	}
	return "", false
}

// right reports whether an answer to an item is right.
func (f *family) right(i *item, key string) bool {
	return slices.ContainsFunc(i.Answers, func(answer string) bool {
		want, ok := f.key(answer)
		return ok && key == want
	})
}
