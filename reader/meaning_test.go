package reader_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/maker-mdap/maker/reader"
)

// none are texts from which nothing may be read.
func none(texts ...string) []said {
	var all []said
	for _, text := range texts {
		all = append(all, said{text, ""})
	}
	return all
}

// What names an option, and does not say that it is the answer, is no vote for it.
func TestOneOfMeaning(t *testing.T) {
	bug := reader.OneOf{Options: []string{"bug", "feature"}}
	check(t, bug, none(
		"Dit is geen bug.", "Dit is niet een bug", "Det är inte en bug", "これはbugではありません", "Bu bir bug değil", "这不是bug", "答案不是bug", "答えはbugではありません",
		"This is hardly a bug", "I doubt this is a bug.", "anything but a bug", "It would be wrong to call this a bug.", "There is insufficient information to call it a bug.",
		"Is this a bug?", "This is a bug?", "bug?", "The answer is bug?", "bug: 20%", "bug (20%)", "bug - 20%", "bug, perhaps", "bug (unlikely)", "bug, it is not", "~~bug~~", "❌ bug", "bug.fix", "bug-free", "It is bug-free.",
		"I doubt the answer is bug.", "The wrong answer is bug.", "Example answer: bug", "If the answer is bug, close it.", "It is not the case that the answer is bug.", "Final answer: hardly a bug\n\nbug",
		"It is a bug only if it crashes.", "The runner-up is bug.", "Certainly not this:\nbug", "I wonder whether\nit is a bug.", "The answer is bug. Wait, I misread it.", "bug\n\nActually, I take that back.",
		"> bug\n\nThat is what the user wrote.", `{"answer": "bug", "negated": true}`, `{"answer": "bug", "label": "feature"}`, `{"answer":"bug"} or rather {"answer":"feature"}`, "bug. Not.", "bug\n20%", "bug bug", "It is a bug. No, a feature.",
	))
	check(t, bug, []said{
		{"It is a bug.", `"bug"`}, {"This is a **bug** because it crashes.", `"bug"`}, {"It's a bug. The user describes a crash.", `"bug"`}, {"I think it is a bug.", `"bug"`},
		{"The log has a stack trace.\nSo it is a bug.", `"bug"`}, {"bug: the user describes a crash", `"bug"`}, {"bug (it crashes)", `"bug"`}, {"The answer to your question is bug.", `"bug"`},
		{"It could be a feature at first sight. Therefore, the answer is bug.", `"bug"`}, {`{"answer": "bug", "reason": "not a feature"}`, `"bug"`}, {"✅ bug", `"bug"`},
		{"I would classify this as a bug.", `"bug"`}, {"Let me look for the answer: the log.\n\nbug", `"bug"`},
	})
	check(t, reader.OneOf{Options: []string{"yes", "no"}}, []said{{"❌ No", `"no"`}, {"❌ Yes", ""}, {"I would say yes to that.", ""}, {"Say yes if you must.", ""}, {"No. 5 is the right choice here", ""}})
	check(t, reader.Bool{}, none("The opposite is true.", "It is true that 7 is not prime.", "true?", "Partly true", "true: 20%", "half true"))
}

func TestNumberMeaning(t *testing.T) {
	check(t, reader.Number{}, none(
		"minus 5", "negative 5", "5 degrees below zero", "2½", "5 hundred", "3 dozen", "2.5 lakh", "5 crore", "$5 M", "$5 B", "$5 t", "$5 m", "5 k", "5 B", "5 K", "5 squared", "5, maybe 6", "5!", "5?", "(5)", "- 5",
		"x != 5", "x >= 5", "5²", "5 (in thousands)", "5 or so", "5th", "5 years ago", "nearly 5", "is5", "5\"", "5'", "not = 5", "5\nhundred", "about5", "€5 $", "1_000", "0x1F", "v5", "5.5.5", "5 apples", "twice 5", "12 of 30", "if x = 5", "5 as a minimum", "The minimum is 5.",
		`{"value": 5, "scale": "thousands"}`, `{"answer": -5, "sign": "+"}`,
	))
	for unit, texts := range map[string][]string{
		"mg":     {"500 µg", `{"value":500,"unit":"µg"}`, `{"value":500,"units":"µg"}`, `{"answer":500,"unit":"µg"}`, "5 Mg", "5 mg/l", "5 mg per day", "5 (µg)"},
		"MW":     {"5 mW", "5 GW", "5 MWh"},
		"kWh":    {"5 MWh", "5 kW"},
		"kg":     {"5 stone", "5 kg/m³", "5 kg 300 g"},
		"m":      {"5 nm", "5 light years", "5 M", "5 m²", "5 minutes", "5 min"},
		"s":      {"5 ns", "5 S"},
		"bar":    {"5 mbar"},
		"EUR":    {"5 SEK", "5 CAD", "500 kr", "$5", "SEK 5", "€5 thousand million"},
		"apples": {"3 oranges", "3 apple pies"},
	} {
		check(t, reader.Number{Unit: unit}, none(texts...))
	}
	check(t, reader.Number{Unit: "apples"}, []said{{"3 apples", "3"}, {"1 apple", "1"}, {"There are 3 apples.", "3"}, {"It is 3 apples.", "3"}})
	check(t, reader.Number{Unit: "mg"}, []said{{`{"value":500,"unit":"mg"}`, "500"}, {`{"value":"500","units":"milligrams"}`, "500"}, {"500 mg, because it says so", "500"}})
	check(t, reader.Number{}, []said{{"The total is $42.", "42"}, {"The sum is 12.\nTwice that is 24.", ""}, {"$5 million", "5000000"}})
	check(t, reader.Number{Min: "0", Max: "255"}, []said{{"-1", ""}, {"256", ""}, {"255.5", ""}, {"0", "0"}, {"255", "255"}, {"1e99999", ""}, {"1e-9", "1e-9"}, {"-1e-999999", ""}})
}

func TestDateMeaning(t *testing.T) {
	check(t, reader.Date{}, none("earlier than 2025-03-04", "30 days past 2025-03-04", "2025-03-04 + 30 days", "2025-03-04 BC", "2025-03-04?", "A2025-03-04", "2025-03-04-05", "-2025-03-04", "~2025-03-04", "2025-03-04 at the latest",
		"no later than March 4, 2025", "The deadline is not 2025-03-04.", "2025-03-04, if it rains", "mid 2025-03-04"))
	check(t, reader.Date{}, []said{{"on March 4, 2025", `"2025-03-04"`}, {"It is 2025-03-04.", `"2025-03-04"`}, {"The date is 2025-03-04.", `"2025-03-04"`}, {"(2025-03-04)", `"2025-03-04"`}, {"2025-03-04, because the invoice says so", `"2025-03-04"`}})
}

func TestRegexpMeaning(t *testing.T) {
	check(t, reader.Regexp{Pattern: `[A-Z]{2}-[0-9]{4}`}, none("AB-12345", "XAB-1234", "AB-1234-5", "AB-1234.5", "AB-1234_x", "AB-1234/2", "anything but AB-1234", "I doubt it is AB-1234", "AB-1234?", "_AB-1234"))
	check(t, reader.Regexp{Pattern: `[0-9]{4}`}, none("12345", "1234.5", "-1234", "a1234", "Answer: 12345", `{"answer": 12345}`, "1,2345"))
	check(t, reader.Regexp{Pattern: `[0-9]{4}`}, []said{{"It is 1234.", `"1234"`}, {"**1234**", `"1234"`}, {"1234, because it says so", `"1234"`}, {`{"answer": 1234}`, `"1234"`}})
}

func TestListMeaning(t *testing.T) {
	check(t, reader.List{Of: reader.Text{}}, none(
		"The files are a.go, b.go and c.go.", "Here are the files: a.go, b.go", `["a","b"`, `["a","b`, `{"files": ["a","b"], "more": ["c"`, "There are no files.", "I do not know.", "a, b and c", "a.go and b.go", "Unknown", "Sorry, no", "Unfortunately, none.",
		"These are not the files:\n- a\n- b", "These are not the files:\na\nb", "Here you go\na\nb", "a\nb\nHope this helps!", "['it's', 'b']", "['a', b\"]", "- a\n  - b\n- c", "n/a", "a?, b", "- none", "1. a 2. b", `["a"] or ["b"]`,
	))
	check(t, reader.List{Of: reader.Text{}}, []said{
		{"['a', 'b']", `["a","b"]`}, {"a, b, and c", `["a","b","c"]`}, {"Answer: a, b", `["a","b"]`}, {"```\na\nb\n```", `["a","b"]`}, {"Here is the list:\na\nb", `["a","b"]`}, {`"a", "b c"`, `["a","b c"]`}, {"None.", `[]`},
		{`[]`, `[]`}, {"[\n  \"a\"\n]", `["a"]`},
	})
	check(t, reader.List{Of: reader.Number{}}, none("The numbers are 1, 2 and 3.", "[1, 2", "1, 2, maybe 3", "0,01", "1,2,3", "00,,1", "[[1, 2], [3"))
}

// A schema changes nothing of what was written, and takes nothing out of what is broken.
func TestJSONMeaning(t *testing.T) {
	check(t, reader.JSON{Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"},"a":{},"b":{}}}`)}, append(none(
		"{\"code\":\"def f():\n    return 1\"}", "Here:\n{\"code\":\"def f():\n    return 1\"}", "```json\n{\"code\":\"x\ny\"}\n```", "```json\n{\"a\":1}\n```\n\n```json\n{\"a\":2}\n```", "```yaml\na: 1\n```\n\n```yaml\na: 2\n```",
		`{"b": {"a":"x"}`, `Here: {"b": {"a":"x"}`, `{"b": [{"a":"x"}, `, `{"b": {"a":"x"},}`, `[{"a":1}, {"a":2`,
	), []said{{"```json\n{\"a\":1}\n```\n\nOnce more:\n```json\n{\"a\":1.0}\n```", `{"a":1}`}, {`Use {x}: {"a":1}`, `{"a":1}`}, {"```yaml\na: 1\n```", `{"a":1}`}}...))
	for want, r := range map[string]reader.Reader{
		`no field "remrak"`: reader.JSON{Schema: json.RawMessage(`{"properties":{"remark":{},"a":{}}}`), Ignore: []string{"remrak"}},
		`type "strin"`:      reader.JSON{Schema: json.RawMessage(`{"type":"strin"}`)},
		`a: type "int"`:     reader.JSON{Schema: json.RawMessage(`{"properties":{"a":{"type":"int"}}}`)},
		`items.a: type "x"`: reader.JSON{Schema: json.RawMessage(`{"items":{"anyOf":[{"properties":{"a":{"type":["string","x"]}}}]}}`)},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%+v) = %v, want an error with %q", r, err, want)
		}
	}
	if err := (reader.JSON{Schema: json.RawMessage(`{"properties":{"type":{"type":"string","enum":["type"]}}}`)}).Validate(); err != nil {
		t.Errorf("Validate of a schema with a field type = %v", err)
	}
	read, err := reader.New(reader.JSON{Schema: json.RawMessage(`{"properties":{"a":{"type":"string"}}}`)}.Format())
	if err != nil {
		t.Fatal(err)
	}
	if _, flag := read.Read(`{"a":null}`); flag == nil || strings.Contains(flag.Reason, "reflect") || !strings.Contains(flag.Reason, "null") {
		t.Errorf(`Read({"a":null}) = %+v, want a flag that speaks of null`, flag)
	}
}

// What does not count is not in the value either.
func TestTextShape(t *testing.T) {
	check(t, reader.Text{}, []said{
		{"**Paris**", `"Paris"`}, {"```\nParis\n```", `"Paris"`}, {"`Paris`", `"Paris"`}, {"```python\nx = 1\ny = 2\n```", `"x = 1\ny = 2"`}, {`{"answer": "**Paris**"}`, `"Paris"`}, {"**a** and **b**", `"**a** and **b**"`}, {"*Paris*.", `"Paris."`},
	})
}

// A number that its Go type cannot hold is no answer.
func TestForRange(t *testing.T) {
	checkType[uint](t, []said{{"-3", ""}, {"3", "3"}, {"18446744073709551616", ""}})
	checkType[int8](t, []said{{"300", ""}, {"-128", "-128"}, {"-129", ""}, {"127", "127"}})
	checkType[int](t, []said{{"9223372036854775808", ""}, {"9223372036854775807", "9223372036854775807"}})
	checkType[float32](t, []said{{"1e39", ""}, {"1e38", "1e38"}})
	checkType[float64](t, []said{{"1e309", ""}, {"-1e309", ""}, {"1e308", "1e308"}})
	checkType[small](t, []said{{`{"n": 256}`, ""}, {`{"n": 255}`, `{"n":255}`}})
}

type small struct {
	N uint8 `json:"n"`
}

func checkType[T any](t *testing.T, all []said) {
	t.Helper()
	r, err := reader.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	check(t, r, all)
	for _, s := range all {
		if s.want == "" {
			continue
		}
		if _, err := reader.Decode[T](json.RawMessage(s.want)); err != nil {
			t.Errorf("Decode(%s) = %v", s.want, err)
		}
	}
}

var (
	digitRun   = regexp.MustCompile(`[0-9][0-9.,'’ \x{a0}\x{202f}]*`)
	separators = strings.NewReplacer(".", "", ",", "", "'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "", "-", "")
	codes      = strings.NewReplacer("USD", " ", "EUR", " ", "GBP", " ", "CHF", " ", "JPY", " ", "INR", " ", "Rs", " ")
)

// stated reports whether a text states a value that was read from it: as a whole, not as a
// part of a longer word or number.
func stated(r reader.Reader, text string, value json.RawMessage) bool {
	text = norm.NFC.String(strings.ToValidUTF8(text, "\ufffd"))
	if strings.ContainsAny(text, `\<`) || strings.Contains(text, "\r") {
		return true // what is escaped or thought is written in another way
	}
	switch r := r.(type) {
	case reader.Number:
		return numberIsStated(text, string(value))
	case reader.Date:
		return numberIsStated(text, string(value[1:5])) && numberIsStated(text, string(value[9:11]))
	case reader.OneOf, reader.Regexp:
		return wordIsStated(strings.ToLower(text), strings.ToLower(textOf(value)))
	case reader.Text:
		emphasis := strings.NewReplacer("*", "", "`", "", "__", "")
		return strings.Contains(emphasis.Replace(text), emphasis.Replace(textOf(value)))
	case reader.List:
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return false
		}
		if strings.Contains(text, "[") { // in JSON a comma is that of a list
			text = strings.ReplaceAll(text, ",", ", ")
		}
		for _, item := range items {
			if !stated(r.Of, text, item) {
				return false
			}
		}
	}
	return true
}

func textOf(value json.RawMessage) string {
	var s string
	_ = json.Unmarshal(value, &s)
	return s
}

// numberIsStated looks for a run of digits that is all of a number, whose sign, exponent
// and zeros at the ends may be written in other ways.
func numberIsStated(text, number string) bool {
	significant := func(s string) string {
		s, _, _ = strings.Cut(s, "e")
		return strings.Trim(separators.Replace(s), "0")
	}
	text = codes.Replace(text)
	for _, at := range digitRun.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		if !unicode.IsLetter(before) && before != '_' && slices.ContainsFunc(prefixes(strings.Fields(text[at[0]:at[1]])), func(s string) bool { return significant(s) == significant(number) }) {
			return true
		}
	}
	return false
}

// prefixes are the first words, the first two, and so on: 1 234, and 4 of "4 2025".
func prefixes(words []string) []string {
	var all []string
	for from := range words {
		for to := range words[from:] {
			all = append(all, strings.Join(words[from:from+to+1], ""))
		}
	}
	return all
}

// wordIsStated looks for a word with neither letters nor digits beside it.
func wordIsStated(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 || word == "" {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		from = i + 1
	}
}

func isWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func TestStated(t *testing.T) {
	number, word := reader.Number{}, reader.Regexp{Pattern: "x"}
	for _, test := range []struct {
		r           reader.Reader
		text, value string
		want        bool
	}{
		{number, "12345", "1234", false}, {number, "1,234.50", "1234.5", true}, {number, "3 million", "3000000", true}, {number, "x5", "5", false}, {number, "USD5", "5", true}, {number, "1 234", "1234", true},
		{word, "AB-12345", `"AB-1234"`, false}, {word, "(AB-1234)", `"AB-1234"`, true}, {word, "答案是yes", `"yes"`, true}, {word, "yesterday", `"yes"`, false},
		{reader.List{Of: reader.Text{}}, "a, b", `["a","c"]`, false},
	} {
		if got := stated(test.r, test.text, json.RawMessage(test.value)); got != test.want {
			t.Errorf("stated(%q, %s) = %t, want %t", test.text, test.value, got, test.want)
		}
	}
}
