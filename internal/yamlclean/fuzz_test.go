package yamlclean

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoded returns the JSON of a text, nil if it does not load.
func decoded(t *testing.T, text string) json.RawMessage {
	t.Helper()
	root, err := Load(text)
	if err != nil {
		checkError(t, text, err)
		return nil
	}
	data, err := Decode(root)
	if err != nil {
		t.Fatalf("Decode(Load(%q)) = %v", text, err)
	}
	if !json.Valid(data) {
		t.Fatalf("Decode(Load(%q)) = %s, want JSON", text, data)
	}
	return data
}

// checkError checks that an error has a place within the text.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	e, ok := err.(*ParseError)
	if !ok || e.Line < 1 || e.Column < 1 || e.Message == "" {
		t.Fatalf("the error for %q is %#v, want a ParseError with a place", text, err)
	}
	if lines := bytes.Count([]byte(unifyBreaks(text)), []byte("\n")) + 1; e.Line > lines {
		t.Fatalf("the error for %q is on line %d of %d: %v", text, e.Line, lines, err)
	}
}

func inTime(t *testing.T, text string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if took := time.Since(start); took > patience {
		t.Errorf("%.100q... (%d bytes) took %v", text, len(text), took)
	}
}

func addSamples(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.text)
	}
	for _, s := range hostile(300) {
		f.Add(s)
	}
}

func FuzzLoad(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func() {
			data := decoded(t, text)
			if data == nil {
				return
			}
			if again := decoded(t, string(data)); !bytes.Equal(data, again) {
				t.Errorf("Load(%q) = %s, and that loads as %s", text, data, again)
			}
		})
	})
}

func FuzzClean(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func() { checkClean(t, text) })
	})
}

// checkClean checks what holds for every text.
func checkClean(t *testing.T, text string) Result {
	t.Helper()
	data := decoded(t, text)
	r, err := Clean(text)
	if err != nil {
		checkError(t, text, err)
		if isCollection(data) {
			t.Errorf("Clean(%q) = %v, but it loads as %s", text, err, data)
		}
		return Result{}
	}
	if again, err := Clean(text); describe(again, err) != describe(r, nil) {
		t.Errorf("Clean(%q) = %s, then %s, %v", text, r.Data, again.Data, err)
	}
	if data := decoded(t, r.Text); !bytes.Equal(data, r.Data) {
		t.Errorf("Clean(%q) = %s from %q, which loads as %s", text, r.Data, r.Text, data)
	}
	// A scalar may have fences in it.
	again, err := Clean(r.Text)
	if !isCollection(r.Data) {
		return r
	}
	if err != nil || again.Repaired || !bytes.Equal(again.Data, r.Data) {
		t.Errorf("Clean(Clean(%q).Text) = %s, %v (repaired: %v), want %s", text, again.Data, err, again.Repaired, r.Data)
	}
	if r.Repaired != (len(r.Fixes) > 0) {
		t.Errorf("Clean(%q): repaired is %v with the fixes %q", text, r.Repaired, r.Fixes)
	}
	if isCollection(data) && r.Repaired {
		t.Errorf("Clean(%q) repaired what loads as %s", text, data)
	}
	return r
}

func FuzzFixes(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		if data := decoded(t, text); isCollection(data) {
			checkFixes(t, text, data)
		}
	})
}

// checkFixes checks that what can be read means the same after every fix. Fixes
// touch only what is broken, so that next to a damage nothing else changes.
func checkFixes(t *testing.T, text string, data json.RawMessage) {
	t.Helper()
	text = unifyBreaks(text)
	for _, fix := range fixes {
		for _, v := range fix.apply(newDocument(text)) {
			if got := decoded(t, v.doc.String()); !bytes.Equal(got, data) {
				t.Errorf("%s made of %q, which is %s, %q, which is %s", fix.name, text, data, v.doc.String(), got)
			}
		}
	}
}

// A node need not come from Load.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x04\x02\x00a\x00b"))
	f.Add([]byte("\x02\x03\x08\x01\x08\x01\x10\x00"))
	f.Add([]byte("\x04\x04\x08\x02k\x10\x00\x08\x02k\x01\x00"))
	f.Fuzz(func(t *testing.T, program []byte) {
		root := buildNode(program)
		data, err := Decode(root)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Errorf("Decode(%q) = %s, want JSON", program, data)
		}
	})
}

// buildNode makes nodes of bytes: a kind, a style, a tag, a value, and how many
// nodes follow as content. They may refer to each other in circles.
func buildNode(program []byte) *yaml.Node {
	next := func() byte {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return b
	}
	tags := []string{"", tagStr, tagInt, tagFloat, tagNull, tagBool, "!!map", "!x"}
	all := []*yaml.Node{}
	for len(program) > 0 && len(all) < 1000 {
		n := &yaml.Node{
			Kind:  yaml.Kind(1 << (next() % 6)),
			Style: yaml.Style(next() % 64),
			Tag:   tags[next()%8],
			Value: string([]byte{next(), next()}),
		}
		all = append(all, n)
		for range next() % 8 {
			n.Content = append(n.Content, all[int(next())%len(all)])
		}
		n.Alias = all[int(next())%len(all)]
	}
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
