package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func encoded(t testing.TB, s *sample) string {
	t.Helper()
	line, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func answer(item, text string, a ask) *sample {
	return &sample{question: a.question("m", "small", item), Prompt: "00", Text: text, Stop: "end", In: 9, Out: 2}
}

func TestBankGoesOnAfterAKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.jsonl")
	first, second := answer("1", "one", ask{}), answer("2", "two\n\"quoted\"", ask{temperature: warm, sample: 3})
	to, have, err := openBank(file)
	if err != nil || len(have) != 0 {
		t.Fatalf("openBank of a new file = %v, %v, want an empty bank", have, err)
	}
	for _, s := range []*sample{first, second} {
		if err := to.append(s); err != nil {
			t.Fatal(err)
		}
	}
	to.close()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(file, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		to, have, err := openBank(file)
		if err != nil {
			t.Fatalf("openBank after a cut at %d: %v", cut, err)
		}
		found := 0
		for _, s := range []*sample{first, second} {
			if have[s.question] != nil {
				found++
				continue
			}
			if err := to.append(s); err != nil {
				t.Fatal(err)
			}
		}
		to.close()
		if want := bytes.Count(whole[:cut], []byte("\n")); found != want {
			t.Errorf("openBank after a cut at %d has %d samples, want %d", cut, found, want)
		}
		if after, _ := os.ReadFile(file); !bytes.Equal(after, whole) {
			t.Errorf("after a cut at %d and going on the file is %q, want %q", cut, after, whole)
		}
	}
}

func TestBankRefuses(t *testing.T) {
	line := encoded(t, answer("1", "one", ask{})) + "\n"
	tests := []struct{ text, want string }{
		{line + line, "again"},
		{"{}\n", "does not say what it answers"},
		{"what\n", "line 1"},
		{`{"model":"m","family":"f","item":"i","colour":"red"}` + "\n", "colour"},
	}
	for _, test := range tests {
		if err := (bank{}).read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("read(%q) = %v, want an error with %q", test.text, err, test.want)
		}
	}
	if _, err := readBank(t.TempDir()); err == nil {
		t.Error("readBank of an empty folder = nil, want an error")
	}
}

func FuzzBank(f *testing.F) {
	for _, s := range []*sample{answer("1", "one", ask{}), answer("2", "\x00\u2028", ask{wording: 3, temperature: 0.7})} {
		f.Add([]byte(encoded(f, s) + "\n"))
	}
	f.Add([]byte("{}\n{"))
	f.Add([]byte(`{"model":"m","family":"f","item":"i","temperature":1e400}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := bank{}
		if read.read(bytes.NewReader(data)) != nil {
			return
		}
		var written bytes.Buffer
		for _, s := range read {
			if err := json.NewEncoder(&written).Encode(s); err != nil {
				t.Fatal(err)
			}
		}
		again := bank{}
		if err := again.read(&written); err != nil {
			t.Fatalf("what was read is written so that it cannot be read: %v", err)
		}
		if len(again) != len(read) {
			t.Errorf("%d samples were read, and then %d", len(read), len(again))
		}
		for q, s := range read {
			if diff := cmp.Diff(encoded(t, s), encoded(t, again[q])); diff != "" {
				t.Errorf("what was read is not what is read again:\n%s", diff)
			}
		}
	})
}
