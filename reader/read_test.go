package reader_test

import (
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/reader"
)

// said is an answer as models write them, and what is read from it: JSON, or "" for a
// red flag.
type said struct{ text, want string }

func check(t *testing.T, r reader.Reader, all []said) {
	t.Helper()
	if err := r.Validate(); err != nil {
		t.Fatalf("Validate(%+v) = %v", r, err)
	}
	for _, s := range all {
		// Each is the answer to a question of its own.
		read, err := reader.New(r.Format())
		if err != nil {
			t.Fatal(err)
		}
		answer, flag := read.Read(s.text)
		if got := string(answer.Value); got != s.want || (flag == nil) != (s.want != "") {
			t.Errorf("%T: Read(%q) = %s, %+v, want %s", r, s.text, got, flag, s.want)
		}
		if flag == nil && !json.Valid([]byte(answer.Key)) {
			t.Errorf("%T: Read(%q) has the key %s, which is not JSON", r, s.text, answer.Key)
		}
	}
}

func TestOneOf(t *testing.T) {
	check(t, reader.OneOf{Options: []string{"yes", "no"}}, []said{
		{"yes", `"yes"`},
		{"Yes", `"yes"`},
		{" YES.\n", `"yes"`},
		{"**Yes**.", `"yes"`},
		{"**Yes.**", `"yes"`},
		{"`no`", `"no"`},
		{"\"no\"", `"no"`},
		{"“No”", `"no"`},
		{"(yes)", `"yes"`},
		{"[no]", `"no"`},
		{"- yes", `"yes"`},
		{"✅ Yes", `"yes"`},
		{"Answer: yes", `"yes"`},
		{"**Answer:** yes", `"yes"`},
		{"Answer: **yes**", `"yes"`},
		{"Answer (yes/no): no", `"no"`},
		{"The answer is yes.", `"yes"`},
		{"The answer is: \"no\".", `"no"`},
		{"The correct answer is **no**, because nothing crashes.", `"no"`},
		{"Final answer: yes", `"yes"`},
		{"Let me think. No crash is mentioned, so no... but wait.\n\nFinal Answer: yes", `"yes"`},
		{"### Final Answer\n\nyes", `"yes"`},
		{"$$\\boxed{\\text{yes}}$$", `"yes"`},
		{"#### no", `"no"`},
		{"Yes, because the user describes a crash.", `"yes"`},
		{"Yes, there is no doubt about it.", `"yes"`},
		{"Yes. The message describes unexpected behaviour.", `"yes"`},
		{"No - it is a question about an invoice.", `"no"`},
		{"No, it is not a bug report.", `"no"`},
		{"Yes\n\nThe text mentions an error message.", `"yes"`},
		{"The text mentions an error message.\n\nyes", `"yes"`},
		{"yes\nyes\nyes", `"yes"`},
		{`{"answer": "yes"}`, `"yes"`},
		{`{"Answer": "No."}`, `"no"`},
		{`{"reason": "no crash", "answer": "no"}`, `"no"`},
		{`{"is_bug": "yes"}`, `"yes"`},
		{"```json\n{\"answer\": \"yes\"}\n```", `"yes"`},
		{"Here you go:\n```json\n{\"answer\": \"yes\"}\n```\nLet me know!", `"yes"`},
		{`Sure! {"answer": "no"} Hope this helps.`, `"no"`},
		{`["yes"]`, `"yes"`},
		{"```\nno\n```", `"no"`},
		{"<think>yes? no? Hmm.</think>\nno", `"no"`},
		{"It could be no.\n</think>\n\nyes", `"yes"`},
		{"yes<|im_end|>", `"yes"`},
		{"no</s>", `"no"`},
		{"Antwort: yes", `"yes"`},
		{"La réponse est no.", `"no"`},
		{"答案是yes", `"yes"`},
		{"答案：no", `"no"`},
		{"Question: Is it a bug? (yes or no)\nAnswer: yes", `"yes"`},

		{"", ""},
		{"yes or no", ""},
		{"yes/no", ""},
		{"Yes and no.", ""},
		{"Yes, no", ""},
		{"maybe", ""},
		{"I cannot tell.", ""},
		{"I'm sorry, but I can't help with that.", ""},
		{"yes\nno", ""},
		{"Answer: yes\n\nAnswer: no", ""},
		{"Yes, it is.\n\nThe answer is no.", ""},
		{"The answer is not yes.", ""},
		{"It depends on whether you say yes or no.", ""},
		{"<think>I wonder whether yes", ""},
		{`{"answer": "maybe"}`, ""},
		{`{"answer": null}`, ""},
		{`{"answer": ["yes", "no"]}`, ""},
		{`{"a": "yes", "b": "no"}`, ""},
		{"yesterday", ""},
		{"know", ""},
	})
	check(t, reader.OneOf{Options: []string{"bug", "not a bug", "feature request", "C++", "N/A"}}, []said{
		{"Bug", `"bug"`},
		{"not a bug", `"not a bug"`},
		{"This is a bug.", `"bug"`},
		{"This is not a bug.", `"not a bug"`},
		{"This is no bug.", ""},
		{"It isn't a bug", ""},
		{"I would classify this as a **feature request**.", `"feature request"`},
		{"Feature Request: the user wants dark mode", `"feature request"`},
		{"bug or feature request", ""},
		{"Either bug or feature request, hard to say.", ""},
		{"Bug, not feature request", ""},
		{"Classification: bug", `"bug"`},
		{"c++", `"C++"`},
		{"n/a", `"N/A"`},
		{"The category is: feature request.", `"feature request"`},
	})
	check(t, reader.OneOf{Options: []string{"A", "B", "C"}}, []said{
		{"B", `"B"`},
		{"b.", `"B"`},
		{"B)", `"B"`},
		{"(B)", `"B"`},
		{"Option B", `"B"`},
	})
	check(t, reader.OneOf{Options: []string{"-1", "0", "1"}}, []said{
		{"-1", `"-1"`}, {"1", `"1"`}, {"0.", `"0"`}, {"Answer: -1", `"-1"`}, {"1.0", `"1"`},
	})
	check(t, reader.OneOf{Options: []string{"Größe", "Farbe"}}, []said{
		{"größe", `"Größe"`}, {"GRO\u0308ßE", `"Größe"`}, {"Die Antwort ist: Farbe.", `"Farbe"`},
	})
	check(t, reader.OneOf{Options: []string{"Paris, France", "London, England"}}, []said{
		{"Paris, France", `"Paris, France"`}, {"The answer is London, England.", `"London, England"`},
	})
}

func TestOptionLetters(t *testing.T) {
	check(t, reader.OneOf{Options: []string{"A", "B", "C"}}, []said{
		{"B. Paris", `"B"`},
		{"B: Paris", ""}, // as B: 20%
		{"The answer is B) Paris.", `"B"`},
		{"The answer is (B).", `"B"`},
		{"A: Paris\nB: London\nC: Rome", ""},
		{"A. Paris\nB. London\n\nAnswer: B", `"B"`},
		{"B) Paris", `"B"`},
		{"This is a hard one.", ""},
		{"A bug was found", ""},
	})
}

func TestBool(t *testing.T) {
	check(t, reader.Bool{}, []said{
		{"true", "true"}, {"False.", "false"}, {"Yes", "true"}, {"**No**", "false"}, {"ja", "true"}, {"Nein.", "false"},
		{"oui", "true"}, {"是", "true"}, {"不是", "false"}, {"はい", "true"},
		{`{"answer": true}`, "true"}, {`{"answer": "no"}`, "false"}, {"Answer: true", "true"},
		{"The statement is false.", "false"}, {"It is true that water is wet.", ""},
		{"Yes, it does.", "true"}, {"No, it does not.", "false"}, {"true\n\nBecause 7 is prime.", "true"},
		{"Yes, that is false.", ""}, {"That is not true.", ""}, {"true or false", ""}, {"perhaps", ""}, {"1", ""}, {`{"answer": 1}`, ""},
	})
}

func TestNumber(t *testing.T) {
	check(t, reader.Number{}, []said{
		{"42", "42"}, {"42.", "42"}, {"**42**", "42"}, {" 42\n", "42"}, {"-3", "-3"}, {"−3", "-3"}, {"+3", "3"}, {"0.50", "0.5"}, {".5", "0.5"},
		{"1,234.5 kg", "1234.5"}, {"1,234,567", "1234567"}, {"1.234.567", "1234567"}, {"1.234,5", "1234.5"}, {"1 234 567", "1234567"}, {"3,14", "3.14"},
		{"1'234", "1234"}, {"12,34,567", "1234567"}, {"≈ 3", "3"}, {"~3", "3"}, {"about 3", "3"}, {"approximately 3.5", "3.5"}, {"$12", "12"}, {"US$ 12.50", "12.5"}, {"-$5", "-5"}, {"€12", "12"}, {"12 €", "12"},
		{"12%", "12"}, {"12 percent", "12"}, {"3 million", "3000000"}, {"2.5 billion", "2500000000"}, {"1e6", "1000000"}, {"1.5 × 10^6", "1500000"}, {"6.02 x 10^{23}", "6.02e23"},
		{"The answer is 42.", "42"}, {"Answer: 42", "42"}, {"**Answer:** 1,234", "1234"}, {"x = 5", "5"}, {"12 + 30 = 42", ""}, {"The result is 42 because 12 + 30 = 42.", "42"},
		{"First, 12 + 30 = 42. Then 42 * 2 = 84.\n\nFinal answer: 84", "84"}, {"#### 18", "18"}, {`\boxed{42}`, "42"}, {`The answer is $\boxed{42}$.`, "42"}, {"$42$", "42"},
		{"12 plus 30 is more.\n\n42", "42"}, {"42\n\nI added 12 and 30.", "42"}, {"There are 5 apples left.", ""}, {"42, because I counted.", "42"}, {"42 (forty-two)", ""},
		{`{"answer": 42}`, "42"}, {`{"answer": "1,234.5 kg"}`, "1234.5"}, {`{"value": 5, "unit": "kg"}`, "5"}, {"```json\n{\"answer\": 7}\n```", "7"}, {"```\n7\n```", "7"},
		{"7.0", "7"}, {"007", "7"}, {"100000000000000000000000001", "100000000000000000000000001"}, {"<think>3 or 4</think>4", "4"}, {"5 km", "5"}, {"20 °C", "20"}, {"5 km/h", "5"},

		{"", ""}, {"forty-two", ""}, {"3 to 5", ""}, {"3-5", ""}, {"between 3 and 5", ""}, {"3 or 4", ""}, {"3/4", ""}, {"10:30", ""}, {"2025-03-04", ""},
		{"at least 5", ""}, {"more than 5", ""}, {">5", ""}, {"5 ± 1", ""}, {"not 5", ""}, {"GPT-4", ""}, {"H2O", ""}, {"1.2.3", ""}, {"3 and 4", ""}, {"3, 4", ""},
		{"Answer: 3\nAnswer: 4", ""}, {"1. Add the numbers.\n2. Get the sum.", ""}, {`{"answer": null}`, ""}, {`{"answer": true}`, ""}, {"5k", ""}, {"I don't know", ""}, {"NaN", ""}, {"∞", ""},
		{"12 plus 30 is 42", ""},
	})
	check(t, reader.Number{Unit: "kg"}, []said{
		{"5", "5"}, {"5 kg", "5"}, {"5kg", "5"}, {"5 KG", "5"}, {"5 kilograms", "5"}, {"It is 5 kg.", "5"}, {"It weighs 5 kg.", ""}, {"5 g", ""}, {"5 lbs", ""}, {"The mass is 1,200 grams", ""},
	})
	check(t, reader.Number{Unit: "%"}, []said{{"12%", "12"}, {"12", "12"}, {"12 percent", "12"}, {"12 kg", ""}, {`12\%`, "12"}})
	check(t, reader.Number{Unit: "widgets per hour"}, []said{{"5 widgets per hour", "5"}, {"5", "5"}, {"5 km/h", ""}})
	check(t, reader.Number{Unit: "USD"}, []said{{"$5", "5"}, {"5 dollars", "5"}, {"5 USD", "5"}, {"€5", ""}})
	check(t, reader.Number{Integer: true}, []said{{"5", "5"}, {"5.0", "5"}, {"5.5", ""}, {"1e-3", ""}, {"1e3", "1000"}})
}

func TestDate(t *testing.T) {
	check(t, reader.Date{}, []said{
		{"2025-03-04", `"2025-03-04"`}, {"2025/3/4", `"2025-03-04"`}, {"**2025-03-04**.", `"2025-03-04"`}, {"2025-03-04T10:00:00Z", `"2025-03-04"`}, {"2025-03-04 10:00", `"2025-03-04"`},
		{"March 4, 2025", `"2025-03-04"`}, {"4 March 2025", `"2025-03-04"`}, {"4th of March, 2025", `"2025-03-04"`}, {"Mar 4 2025", `"2025-03-04"`}, {"Tuesday, March 4, 2025", `"2025-03-04"`},
		{"4. März 2025", `"2025-03-04"`}, {"le 4 mars 2025", `"2025-03-04"`}, {"4 de marzo de 2025", `"2025-03-04"`}, {"2025年3月4日", `"2025-03-04"`}, {"4-Mar-2025", `"2025-03-04"`},
		{"13/04/2025", `"2025-04-13"`}, {"04/13/2025", `"2025-04-13"`}, {"04/04/2025", `"2025-04-04"`}, {"29 February 2024", `"2024-02-29"`},
		{"The date is March 4, 2025.", `"2025-03-04"`}, {"Answer: 2025-03-04", `"2025-03-04"`}, {`{"answer": "2025-03-04"}`, `"2025-03-04"`}, {`{"due_date": "March 4, 2025"}`, `"2025-03-04"`},
		{"2025-03-04\n\nThe invoice says so.", `"2025-03-04"`}, {"2025-03-04 (a Tuesday)", `"2025-03-04"`},

		{"03/04/2025", ""}, {"3.4.2025", ""}, {"29 February 2025", ""}, {"2025-13-01", ""}, {"2025-02-30", ""}, {"March 2025", ""}, {"2025", ""}, {"tomorrow", ""}, {"03/04/25", ""},
		{"2025-03-04 or 2025-03-05", ""}, {"2025-03-04\n2025-03-05", ""}, {"not 2025-03-04", ""}, {"before 2025-03-04", ""}, {"12025-03-044", ""},
	})
	check(t, reader.Date{Order: "dmy"}, []said{{"03/04/2025", `"2025-04-03"`}, {"13.04.2025", `"2025-04-13"`}, {"04/13/2025", ""}})
	check(t, reader.Date{Order: "mdy"}, []said{{"03/04/2025", `"2025-03-04"`}, {"13/04/2025", ""}})
}

func TestRegexp(t *testing.T) {
	check(t, reader.Regexp{Pattern: `[A-Z]{2}-\d{4}`}, []said{
		{"AB-1234", `"AB-1234"`}, {"`AB-1234`.", `"AB-1234"`}, {"It is AB-1234.", `"AB-1234"`}, {"Answer: AB-1234", `"AB-1234"`}, {`{"answer":"AB-1234"}`, `"AB-1234"`},
		{"AB-1234\n\nThat is AB-1234", `"AB-1234"`}, {"AB-1234 or CD-5678", ""}, {"ab-1234", ""}, {"none", ""}, {"It is not AB-1234.", ""},
	})
	check(t, reader.Regexp{Pattern: `^\{\}$`}, []said{{"{}", `"{}"`}, {"[]", ""}})
}

func TestText(t *testing.T) {
	check(t, reader.Text{}, []said{
		{"Paris", `"Paris"`}, {"Answer: Paris", `"Paris"`}, {"The answer is **Paris**", `"Paris"`}, {`{"answer": "Paris"}`, `"Paris"`}, {"<think>Rome?</think>Paris", `"Paris"`},
		{`{"city": "Paris"}`, `"{\"city\": \"Paris\"}"`}, {"", ""}, {"...", ""}, {`{"answer": ""}`, ""},
	})
}

func TestList(t *testing.T) {
	check(t, reader.List{Of: reader.Text{}}, []said{
		{`["a", "b"]`, `["a","b"]`}, {`{"answer": ["a", "b"]}`, `["a","b"]`}, {"```json\n[\"a\"]\n```", `["a"]`}, {"Here: [\"a\", \"b\"] as asked.", `["a","b"]`},
		{"- a\n- b", `["a","b"]`}, {"Here is the list:\n\n* a\n* b\n\nDone.", `["a","b"]`}, {"1. a\n2. b", `["a","b"]`}, {"1) a\n\n2) b", `["a","b"]`},
		{"a, b, c", `["a","b","c"]`}, {"a, b, and c", `["a","b","c"]`}, {"salt, bread and butter", ""}, {"Answer: a, b", `["a","b"]`},
		{"a; b; c", `["a","b","c"]`}, {"a\nb", `["a","b"]`}, {"a", ""}, {"none", `[]`}, {"[]", `[]`}, {`{"answer": []}`, `[]`}, {"[a, b]", `["a","b"]`},
		{"- a\n- b\n\nBut better:\n- c", ""}, {"", ""}, {`["a", null]`, ""},
	})
	check(t, reader.List{Of: reader.Number{}}, []said{
		{"1, 2, 3", `[1,2,3]`}, {"[1, 2.50]", `[1,2.5]`}, {"1 and 2", `[1,2]`}, {"1,234, 5", `[1234,5]`}, {"1,234", ""}, {"- 1 kg\n- 2 kg", `[1,2]`}, {"1, two", ""}, {"[1, \"x\"]", ""},
	})
	check(t, reader.List{Of: reader.OneOf{Options: []string{"red", "green", "none"}}, Unordered: true}, []said{
		{"red and green", `["red","green"]`}, {"Red, Green.", `["red","green"]`}, {"none", `["none"]`}, {"blue", ""}, {`["RED"]`, `["red"]`},
	})
}

func TestJSON(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"label":{"enum":["a","b"]},"n":{"type":"integer","minimum":0},"why":{"type":"string"}},"required":["label","n"]}`)
	check(t, reader.JSON{Schema: schema, Ignore: []string{"why"}}, []said{
		{`{"label": "a", "n": 1}`, `{"label": "a", "n": 1}`}, {"```json\n{\"label\": \"a\", \"n\": 1}\n```", `{"label": "a", "n": 1}`},
		{"Sure, here it is:\n\n{\"label\": \"a\", \"n\": 1}\n\nHope this helps!", `{"label": "a", "n": 1}`}, {`The result is {"label":"a","n":1}, I think.`, `{"label":"a","n":1}`},
		{"label: a\nn: 1", `{"label":"a","n":1}`}, {`{"answer": {"label": "a", "n": 1}}`, `{"label": "a", "n": 1}`},
		{`{"label": "c", "n": 1}`, ""}, {`{"label": "a", "n": -1}`, ""}, {`{"label": "a"}`, ""}, {`{"label": "a", "n": 1.5}`, ""}, {`{"label": "a", "n": 1`, ""}, {`{"label":"a","label":"b","n":1}`, ""},
		{`{"label":"a","n":1} or {"label":"b","n":2}`, ""}, {"no", ""}, {"", ""}, {"null", ""},
	})
	check(t, reader.JSON{Schema: json.RawMessage(`{"type":"array","items":{"type":"number"}}`)}, []said{{`[1,2]`, `[1,2]`}, {`{"answer":[1,2]}`, `[1,2]`}, {`["x"]`, ""}})
}

func TestObject(t *testing.T) {
	check(t, reader.Object{Fields: []reader.Field{
		{Name: "label", Of: reader.OneOf{Options: []string{"billing", "bug"}}}, {Name: "due_date", Of: reader.Date{}, Optional: true}, {Name: "why", Of: reader.Text{}, Prose: true, Optional: true},
	}}, []said{
		{`{"label": "Bug", "due_date": "March 4, 2025", "why": "x", "more": 1}`, `{"label":"bug","due_date":"2025-03-04","why":"x"}`},
		{`{"label": "bug", "due_date": null}`, `{"label":"bug"}`}, {"label: billing", `{"label":"billing"}`}, {`{"Label": "bug", "Due Date": "2025-03-04"}`, `{"label":"bug","due_date":"2025-03-04"}`},
		{`{"label": "other"}`, ""}, {`{"due_date": "2025-03-04"}`, ""}, {`{"label": "bug", "due_date": "03/04/2025"}`, ""}, {"bug", ""},
	})
}
