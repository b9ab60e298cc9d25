package redflag

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func valueOf(t *testing.T, text string) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(map[string]any{"list": []any{1, map[string]any{"text": text}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func repeat(s string, n int) string { return strings.TrimSpace(strings.Repeat(s, n)) }

// numbered joins n copies of a line that differ only in their numbers.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i+1)
	}
	return b.String()
}

func TestRepetition(t *testing.T) {
	bad := []string{
		repeat("The answer is 42. ", 4),
		repeat("I don't know. ", 4),
		repeat("this is a test ", 4),
		repeat("Let me check the second move again.\n", 5),
		"So we start. " + repeat("Then we move the small disk to the left peg, and then we go on. ", 4),
		"42. " + repeat("The answer is 42. ", 4),
		repeat("and so on ", 40),
		repeat("very ", 120),
		repeat("- Check that the input file is not empty\n", 4),
		"The input must be sorted first. A. The input must be sorted first. B. The input must be sorted first. C. The input must be sorted first. D.",
		repeat("Die Antwort ist leider nicht bekannt. ", 4),
		repeat("La réponse est dans le texte. ", 4),
		repeat("La respuesta está en el texto. ", 4),
		repeat("Ответ находится в тексте. ", 4),
		repeat("我们需要再检查一遍。", 4),
		repeat("もう一度確認する必要があります。", 4),
		repeat("다시 한 번 확인해야 합니다. ", 4),
		repeat("الجواب موجود في النص. ", 4),
		repeat("ต้องตรวจสอบอีกครั้ง", 4),
	}
	good := []string{
		repeat("The answer is 42. ", 3),
		repeat("this is a test ", 3),
		repeat("| yes | not applicable here | drop the new table |\n", 20),
		"```\n" + repeat("if err != nil { return err }\n", 20) + "\n```",
		repeat("if err != nil {\n\treturn fmt.Errorf(\"open the file: %w\", err)\n}\n", 8),
		repeat("0 ", 200),
		repeat("1, 0, ", 50),
		repeat("[0, 1, 0],\n", 30),
		repeat("left, right, ", 30),
		repeat("turn left, move forward, ", 10),
		repeat("up down ", 10),
		repeat("positive\n", 150),
		repeat("not yet started\n", 30),
		numbered("%d. Move forward by one step.", 12),
		numbered("Move disk %d from peg A to peg C.", 12),
		numbered("- The function returns true if the input is at least %d.", 12),
		"The function returns true if the list is sorted. The function returns true if the list is empty. " +
			"The function returns true if the list is full. The function returns true if the list is shared. " +
			"The function returns true if the list is frozen.",
		numbered("## Phase %d\n\n- Estimated effort: about two weeks of work for one person\n- Status: not started", 8),
		numbered(`The word "number%d" is a noun.`, 8),
		"Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream.",
		numbered("Der Wert von Zeile %d ist größer als der Mittelwert.", 8),
		numbered("第%d步：把圆盘移到下一根柱子。", 8),
		numbered("手順%d：円盤を次の杭に移します。", 8),
		"A to B, B to C, A to B, B to C, A to B, B to C, A to B, B to C, A to B, B to C",
		"ha ha ha ha ha ha",
		// A standing phrase in a long document.
		numbered("Setting number %[1]d changes how part %[1]d of the program treats its input, and was added in release %[1]d to help "+
			"with files that were written by older tools. "+
			"See page %[1]d of the handbook for examples of its use with file %[1]d and with the tools of year %[1]d.", 10) +
			"This setting will go away soon. A. This setting will go away soon. B. This setting will go away soon. C. This setting will go away soon.",
		numbered("src/file one of the many.go\nline %d", 8),
	}
	runTexts(t, Config{Repetition: RepetitionCheck{On: true}}, Repetition, bad, good)

	tuned := Config{Repetition: RepetitionCheck{On: true, Times: 1, MinWords: 2}}
	if f := tuned.Check(&Answer{Text: "go left go left"}); f == nil {
		t.Errorf("Check with times 1 and min_words 2 = nil, want %s", Repetition)
	}
}

func TestSelfContradiction(t *testing.T) {
	bad := []string{
		"The final answer is 41. Checking once more. The final answer is 42.",
		"answer = 3\nanswer = 4",
		"Answer: 3\n\nSo the answer is 5.",
		"Answer: 3\nLet us see. It is odd. So it is more.\nFinal answer: 5",
		"The answer is 1,024. Therefore, the answer is 1,042.",
		`The final answer is $\boxed{7}$.` + "\n\n" + `The final answer is $\boxed{8}$.`,
		"Final answer: yes. Hmm. Final answer: no.",
		"The final answer is Paris. The final answer is Lyon.",
		"**Final answer:** B\n\n**Final answer:** C",
		"It is 5. Actually, no, it is 6.",
		"It is 36. Actually, it is 40.",
		"It is 5. Wait, no. It is 6.",
		"It is 5. Wait, that's wrong. It is 6.",
		"The move is [1, 0, 2]. Scratch that, the move is [1, 0, 1].",
		"x = 5. I made a mistake: x = 6.",
	}
	good := []string{
		"The answer is 42. Checking once more. The final answer is 42.",
		"The answer is 1000. In other words, the final answer is 1,000.",
		"The answer is 3.14. To five digits, the answer is 3.14159.",
		"The answer is 5 km. The answer is 5000 m.",
		"The answer is 1/2. The final answer is 0.5.",
		"The answer is 0.5. The answer is 50%.",
		"If x > 0, the answer is 3. If x < 0, the answer is -3.",
		"The answer is not 5. The answer is 6.",
		"Question 1\nAnswer: 4\n\nQuestion 2\nAnswer: 5",
		"(a) Add them.\nThe answer is 4.\n(b) Subtract them.\nThe answer is 5.",
		"1. The answer is 4.\n2. The answer is 5.",
		"Part a: sort.\nAnswer: 4\nPart b: merge.\nAnswer: 5",
		"Actually, no one knows the exact count.",
		"It is 36. Actually, it is 36.",
		"Many take it for a fish. Actually, it is 1 of 90 whales.",
		"Wait, no problem: the lift stops here too.",
		`He said: "Wait, no." Then he went on.`,
		"The answer is blue. The answer is the colour of the sky.",
		"Final answer: NYC. Final answer: NYC, New York.",
		"Aufgabe 1: Die Antwort ist 4.\nAufgabe 2: Die Antwort ist 5.",
		"En realidad, no hay solución.",
		"Na verdade, não há solução.",
		"En fait, nous avons deux cas.",
		"问题1\n答案：4\n问题2\n答案：5",
		"На самом деле, нет решений.",
		"The answer was 5 last year. The answer is 6.",
		"```\nanswer = 3\nanswer = 4\n```\nThe last line wins.",
		"The answer is in the book. The answer is 6.",
		"We add 3 and 4. The answer is 7. Next we multiply by 2. The answer is 14. Final answer: 14",
		"To begin with, the answer is 7 apples. We double it. Final answer: 14 apples",
		"I was wrong about the price, he wrote.",
		"Oops is the name of a comic.",
	}
	runTexts(t, Config{SelfContradiction: SelfContradictionCheck{On: true}}, SelfContradiction, bad, good)

	patient := Config{SelfContradiction: SelfContradictionCheck{On: true, Corrections: 2}}
	if f := patient.Check(&Answer{Text: "It is 5. Wait, no. It is 6."}); f != nil {
		t.Errorf("Check with corrections 2 = %v, want nil", *f)
	}
	if f := patient.Check(&Answer{Text: "It is 5. Wait, no. It is 6. Oops. It is 7."}); f == nil {
		t.Errorf("Check of two corrections with corrections 2 = nil, want %s", SelfContradiction)
	}
}

func TestTruncatedStructure(t *testing.T) {
	bad := []string{
		"```go\nfunc f() {",
		"Here:\n~~~\ncode",
		"````\n```\n",
		`{"move": [1, 0, 2], "next_state": [[3`,
		`{"title": "The beginning of`,
		`{"a": 1,`,
		`{"a": "}"`,
		"[1, 2, 3",
		`["a", "b`,
		"[[3, 2], [1], [",
		"The three largest cities are Tokyo, Delhi,",
		"Die drei größten Städte sind Tokio, Delhi,",
		"世界上最大的三个城市是东京、德里、",
		"The function is called with the arguments (",
	}
	good := []string{
		"```go\nfunc f() {}\n```",
		"```go\na\n```\nand\n```\nb\n```",
		"````\n```\n````",
		"``` inline ``` code",
		"~~~\n```\n~~~",
		`{"a": "{["}`,
		`{"a": "\"["}`,
		"[1, 2, 3]",
		"[0, 1)",
		"[1] Smith, On Lists.",
		"{x : x > 0",
		"Dear Anna,",
		"42",
		"The mark for an open interval is",
		"Die Antwort ist 42",
		"答案是42",
		"[",
		"a, b, c, ...",
		"It ends without a full stop",
	}
	c := Config{Truncated: TruncatedCheck{On: true, Structure: true}}
	for _, text := range bad {
		if f := c.Check(&Answer{Text: text}); f == nil || f.Name != Truncated {
			t.Errorf("Check(%q) = %v, want %s", text, f, Truncated)
		}
		if f := c.Check(&Answer{Text: text, Stop: "end"}); f != nil {
			t.Errorf("Check(%q, stop end) = %v, want nil", text, *f)
		}
	}
	for _, text := range append(good, innocent...) {
		if f := c.Check(&Answer{Text: text}); f != nil {
			t.Errorf("Check(%q) = %v, want nil", text, *f)
		}
	}
	if f := c.Check(&Answer{Text: "done.", Stop: "length"}); f == nil || f.Name != Truncated {
		t.Errorf("Check(stop length) = %v, want %s", f, Truncated)
	}
	plain := Config{Truncated: TruncatedCheck{On: true}}
	if f := plain.Check(&Answer{Text: bad[0]}); f != nil {
		t.Errorf("Check(%q) without structure = %v, want nil", bad[0], *f)
	}
}

// TestHugeAnswers would not end if a check took quadratic time.
func TestHugeAnswers(t *testing.T) {
	c := Strict()
	c.ExcessiveLength.On = false
	for _, unit := range []string{"“", "[", "{{", "[]", "' ", "ab, ", "0 ", "字，", "```\n", `{"`, "sorry, ", "- \n"} {
		c.Check(&Answer{Text: strings.Repeat(unit, 60_000/len(unit)), Stop: "end"})
	}
}
