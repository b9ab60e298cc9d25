package yamlclean

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestLoadTags(t *testing.T) {
	for _, test := range []struct{ text, tag, value string }{
		{"", tagNull, ""},
		{"no", tagStr, "no"},
		{"On", tagStr, "On"},
		{"True", tagBool, "True"},
		{"~", tagNull, "~"},
		{"'null'", tagStr, "null"},
		{"2024-01-31", tagStr, "2024-01-31"},
		{"2024-01-31 10:00:00", tagStr, "2024-01-31 10:00:00"},
		{"1_000", tagStr, "1_000"},
		{"0o17", tagStr, "0o17"},
		{"017", tagStr, "017"},
		{"0", tagInt, "0"},
		{"-17", tagInt, "-17"},
		{strings.Repeat("9", 400), tagInt, strings.Repeat("9", 400)},
		{"1e308", tagFloat, "1e308"},
		{"1e309", tagStr, "1e309"},
		{"1e-400", tagFloat, "1e-400"},
		{"1e-401", tagStr, "1e-401"},
		{"1e", tagStr, "1e"},
		{".", tagStr, "."},
		{"+", tagStr, "+"},
		{"1.2.3", tagStr, "1.2.3"},
		{"12:30", tagStr, "12:30"},
		{"|-\n  1", tagStr, "1"},
		{"\"\\u00e9\\0\"", tagStr, "é\x00"},
		{"<<", tagStr, "<<"},
	} {
		n, err := Load("k: " + test.text)
		if err != nil {
			t.Errorf("Load(k: %s) = %v", test.text, err)
			continue
		}
		v := n.Content[1]
		if v.Tag != test.tag || v.Value != test.value {
			t.Errorf("Load(k: %s) has the value %s %q, want %s %q", test.text, v.Tag, v.Value, test.tag, test.value)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: 1\n", i)
		}
		return b.String()
	}
	for _, test := range []struct{ text, want string }{
		{strings.Repeat("x", MaxSize+1), "line 1, column 1: the text has 1048577 bytes"},
		{many(MaxKeys + 1), "line 1, column 1: this mapping has 4097 keys"},
		{"{\"" + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(many(MaxKeys+1), "\n"), "\n", ", \""), ":", "\":") + "}", "line 1, column 1: this mapping has 4097 keys"},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "line 1, column 101: the nesting is deeper than 100"},
		{strings.Repeat("- ", MaxDepth+1), "line 1, column 201: the nesting is deeper than 100"},
		{strings.Repeat("{a: ", MaxDepth+1) + strings.Repeat("}", MaxDepth+1), "line 1, column 398: the nesting is deeper than 100"},
		{"a: 1\n'a': 2\n", `line 2, column 1: the key "a" is already on line 1`},
		{"1: a\n'1': b\n", `line 2, column 1: the key "1" is already on line 1`},
		{"a: {x: 1, x: 2}\n", `line 1, column 11: the key "x" is already on line 1`},
		{"b: {<<: 1, <<: 2}\n", `line 1, column 12: the key "<<" is already on line 1`},
		{"a: &a [*a]\n", "line 1, column 4: anchors such as &a are not read"},
		{"a: &b c\n", "line 1, column 4: anchors such as &b are not read"},
		{"a: *b\n", "line 1: aliases such as *b are not read"},
		{"a: !b c\n", "line 1, column 4: tags such as !b are not read"},
		{"a: !!python/object:os.system x\n", "line 1, column 4: tags such as !!python/object:os.system are not read"},
		{"a: ! b\n", "line 1, column 4: tags are not read"},
		{"é: [ü, ! b]\n", "line 1, column 8: tags are not read"},
		{"a: 1\n--- \nb: 2\n", "line 2, column 1: a second document begins here"},
		{"a: 1\n...\nb: 2\n", "line 3: "},
		{"# nothing\n", "line 1, column 1: there is nothing here"},
		{"a: \"x\"#y\n", "line 1, column 4: a # follows the value directly"},
		{"{\"a\": 1 // b\n}\n", "line 1, column 7: this looks like a comment of JSON"},
		{"“a”: 1\n", "line 1, column 1: a key begins with a typographic quote"},
		{"{? [a]: b}\n", "line 1, column 4: a collection is the key"},
		{"a:\n\t- b\n", "line 2: a value cannot begin with this character"},
		{"text: \"one\n  two\nb: 1\n", "line 1: this quote is never closed"},
		{"a: 1\ntext: \"one\n  two\nb: 1\n", "line 2: this quote is never closed"},
		{"a: 1\nb: x: y\n", "line 2: a colon within a value"},
		{"ä: 1\nü: é: y\n", "line 2: a colon within a value"},
		{"a:\n  b: 1\n c: 2\n", "line 3: the next key of the mapping"},
		{"a: 1\nb\nc: 2\n", "line 2: a line without a key"},
		{"a: \"\\d\"\n", "line 1: double quotes do not know this escape"},
		{"a: |x\n", "line 1: the text after | or >"},
		{"a: 'b'c\n", "line 1: the next key of the mapping"},
		{"- a\nb: 1\n", `line 2: the next "- " of the list`},
		{"%x\n---\na: 1\n", "line 1: "},
	} {
		n, err := Load(test.text)
		var e *ParseError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("Load(%.80q) = %v, %v, want %s...", test.text, n, err, test.want)
		}
	}
}

func TestBoundsAreNotTooTight(t *testing.T) {
	texts := []string{
		strings.Repeat("x", MaxSize),
		strings.Repeat("[", MaxDepth-1) + "1" + strings.Repeat("]", MaxDepth-1),
	}
	var keys strings.Builder
	for i := range MaxKeys {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for _, text := range append(texts, keys.String()) {
		if _, err := JSON(text); err != nil {
			t.Errorf("JSON(%.60q...) = %v", text, err)
		}
	}
}

func TestKeysAreStrings(t *testing.T) {
	n, err := Load("1: a\ntrue: {~: b, <<: c}\n")
	if err != nil {
		t.Fatal(err)
	}
	inner := n.Content[3]
	for _, key := range []*yaml.Node{n.Content[0], n.Content[2], inner.Content[0], inner.Content[2]} {
		if key.Tag != tagStr {
			t.Errorf("Load has the key %q with the tag %s, want %s", key.Value, key.Tag, tagStr)
		}
	}
}

func TestLoadPositions(t *testing.T) {
	for _, text := range []string{"é:\n  - x: 1\n", "{\"é\":\n [ {\"x\": 1}]}"} {
		n, err := Load(text)
		if err != nil {
			t.Fatal(err)
		}
		x := n.Content[1].Content[0].Content[0]
		if x.Value != "x" || x.Line != 2 || x.Column != 5 {
			t.Errorf("Load(%q) has %q at %d:%d, want x at 2:5", text, x.Value, x.Line, x.Column)
		}
	}
}
