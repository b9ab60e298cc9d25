package redflag

import (
	"strings"
	"testing"
)

// longAnswer is a legitimate answer of some length, with code, a table, lists,
// formulas and words that look suspicious out of context.
const longAnswer = `## Migrating the payment service

The service keeps its state in two tables, and both have to move without downtime. The plan below was drawn up for a
team of three; each phase can be rolled back on its own. I'm not sure anyone remembers why the second table exists.

1. Create the new schema. The migration tool writes it under a different name, so nothing reads it yet.
2. Copy the old rows in batches of 1,000. The job notes the last key it copied, so that it can go on after a crash.
3. Write to both tables. The old table remains the truth; differences are logged and counted.
4. Read from the new table. The old one is still written, in case we have to go back...
5. Drop the old table after two weeks.

| phase | owner | risk | rollback |
|---|---|---|---|
| schema | Ana | low | drop the new table |
| copy | Ben | low | truncate the new table |
| dual write | Ben | medium | drop the new table |
| switch | Chi | high | drop the new table |

` + "```go" + `
func copyRows(ctx context.Context, rows ...Row) error {
	for _, r := range rows {
		// TODO: batch these
		if err := insert(ctx, r); err != nil {
			return err
		}
	}
	return fmt.Errorf("[your name] ... %v", append([]Row{}, rows...))
}
` + "```" + `

The error rate $p$ of one batch is about 0.2 %, so that the whole copy fails with probability $1-(1-p)^{500}$, which is
63 %. Hence the retries. If the job stops, the answer is 3 retries; when it stops twice, the answer is 5.

- The first dashboard shows the number of rows that were copied in the last hour.
- The first dashboard shows the number of rows that differ between the tables.
- The first dashboard shows the number of rows that could not be read.
- The first dashboard shows the number of rows that are locked.

A reviewer asked: "As an AI language model, can you help?" and got the reply "I'm sorry, but I can't help with that."
`

// innocent are texts that none of the checks of words may flag.
var innocent = []string{
	"42",
	"Yes.",
	"No, it does not.",
	longAnswer,
	strings.ReplaceAll(longAnswer, "\n", "\r\n"),
	"move = [1, 0, 2]\nnext_state = [[3, 2], [], [1]]",
	"Paris",
	"Die Summe ist 15, weil 7 und 8 zusammen 15 ergeben.",
	"La capitale de la France est Paris, et celle de l'Italie est Rome.",
	"数列的前五项是 1、1、2、3、5。",
	"答えは 42 です。",
	"Ответ: 42",
	"합계는 15입니다.",
	"الجواب هو ٤٢.",
	"उत्तर 42 है।",
	"คำตอบคือ 42",
}

func TestInnocentTextsPass(t *testing.T) {
	c := Strict()
	c.ExcessiveLength.On = false
	for _, text := range innocent {
		if f := c.Check(&Answer{Text: text, Stop: "end", OutputTokens: 10}); f != nil {
			t.Errorf("Check(%.60q) = %v, want nil", text, *f)
		}
		if f := c.Check(&Answer{Text: text}); f != nil {
			t.Errorf("Check(%.60q) without a stop reason = %v, want nil", text, *f)
		}
	}
}

// runTexts checks that c flags each bad text with name, also as a string inside
// a value, and none of the good ones.
func runTexts(t *testing.T, c Config, name string, bad, good []string) {
	t.Helper()
	for _, text := range bad {
		f := c.Check(&Answer{Text: text})
		if f == nil {
			t.Errorf("Check(%.90q) = nil, want %s", text, name)
			continue
		}
		if f.Name != name || f.Reason == "" {
			t.Errorf("Check(%.90q) = %v, want %s", text, *f, name)
		}
		if f := c.Check(&Answer{Text: "{}", Value: valueOf(t, text)}); f == nil || f.Name != name {
			t.Errorf("Check(value %.90q) = %v, want %s", text, f, name)
		}
	}
	for _, text := range append(good, innocent...) {
		if f := c.Check(&Answer{Text: text}); f != nil {
			t.Errorf("Check(%.90q) = %v, want nil", text, *f)
		}
		if f := c.Check(&Answer{Text: "{}", Value: valueOf(t, text)}); f != nil {
			t.Errorf("Check(value %.90q) = %v, want nil", text, *f)
		}
	}
}

func TestRefusalWords(t *testing.T) {
	bad := []string{
		"I'm sorry, but I can't help with that.",
		"I’m sorry, but I can’t assist with that request.",
		"I cannot assist with this.",
		"Sorry! I am unable to provide instructions for that.",
		"Unfortunately, I cannot answer this question.",
		"As an AI language model, I cannot provide medical advice.",
		"I must decline this request.",
		"**I can't fulfill this request.** It asks for private data.",
		"I will not do it, sir.", // by configuration
	}
	good := []string{
		"I cannot provide a closed form, because the integral has none; numerically it is 0.7468.",
		"I can't help but notice that both sides are even.",
		`The clerk said: "I'm sorry, but I can't help with that." Then she left.`,
		"“I’m sorry, but I can’t help with that,” said the clerk.",
		"> I cannot assist with this.\n\nThe line above is the refusal you asked about.",
		"Sorry for the confusion in the data: row 7 is a duplicate, the total is 12.",
		"Unfortunately, the series does not converge.",
		"Unfortunately, the pump cannot help with flows below 2 l/s.",
		"x cannot be negative, so x = 3.",
		"The machine is unable to assist with heavy loads.",
		"Leider ist die Gleichung nicht lösbar.",
		"Malheureusement, la série diverge.",
		"No puede ser negativo, así que x = 3.",
		"К сожалению, ряд расходится.",
		"抱歉的英文是 sorry。",
		"'I can't help with that' is a refusal.",
		"Il s'agit de « Je ne peux pas vous aider ».",
		"「お手伝いできません」は断りの表現です。",
		"It takes four steps. First, sort. Then merge. I can't help with that is what the bot used to say.",
	}
	c := Config{Refusal: RefusalCheck{On: true, Words: true, Phrases: []string{"I will  NOT do it"}}}
	runTexts(t, c, Refusal, bad, good)
}

func TestMetaChatter(t *testing.T) {
	bad := []string{
		"Sure! Here is the JSON you asked for: {}",
		"Certainly, here's the list.\n- a\n- b",
		"Of course! I'd be happy to help. The answer is 5.",
		"Great question! Let me explain. The sky is blue.",
		"Here is your summary: the town grew.",
		"The sum is 5. I hope this helps!",
		"The sum is 5.\n\nLet me know if you need anything else.",
		"The capital is Paris. Would you like me to list more capitals?",
		"As an AI language model, I have no opinions. The sum is 5.",
		"Okay, the user wants the sum. It is 5.",
		"The user wants me to add the numbers. They give 5.",
		"The total is 5. Based on my training data, prices rose.",
		"Beep boop. The sum is 5.", // by configuration
	}
	good := []string{
		"Certainly!",
		"Sure.",
		"Of course, x must be even, since 2 divides it.",
		"As an AI researcher, she studied vision.",
		"As an assistant professor, he taught algebra.",
		"The user wants to reset the password, so the page shows a link.",
		"Dear Ms Klein,\n\nthe parcel left today. Let me know if you have any questions.\n\nBest regards,\nAnna",
		`He wrote "I hope this helps" at the end of each letter.`,
		"Let me know if you can come on Friday.",
		"Soll ich dich einem Sommertag vergleichen? Er ist wie du so lieblich nicht. Soll ich gehen?",
		"Great Britain has three countries.",
		"OK is the state of two of the servers.",
		"Here is where the river bends. Here are the old mills.",
		"Natürlich gilt das auch für ungerade Zahlen.",
		"Bien sûr que la réponse est 5.",
		"Por supuesto, la suma es 5.",
		"当然，总和是 5。",
		"もちろん、合計は 5 です。",
		"Конечно, сумма равна 5.",
		"Als KI-Forscherin arbeitet sie in Bonn.",
		"```\nSure! Here is the JSON\n```\nThat is the line to remove.",
	}
	runTexts(t, Config{MetaChatter: MetaChatterCheck{On: true, Phrases: []string{"Beep boop"}}}, MetaChatter, bad, good)
}

func TestPlaceholder(t *testing.T) {
	bad := []string{
		"...",
		"[…]",
		"???",
		"<answer>",
		"TODO",
		"TBD.",
		"Result: TBD",
		"- Owner: [TBD]\n- Date: 4 May",
		"Dear [Your Name],\nthe parcel left today.",
		"Dear <insert name here>,\nthe parcel left today.",
		"Hello {{customer_name}}, welcome back.",
		"Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
		"The answer: your answer here",
		"The answer is <your answer>.",
		"Summary\n\nTODO: fill in the summary",
		"The price is $$$ per unit.", // by configuration
	}
	good := []string{
		"Wait for it... and then run.",
		"The sequence 1, 2, 3, ... diverges; so does 1, 3, 5, …",
		"```go\nfunc f(xs ...int) { g(xs...) } // TODO: test\n```",
		"Use `[...a, ...b]` to join them, and `TODO` to mark work.",
		"const all = [...a, ...b];\n// TODO: sort",
		"func f(xs ...int) {\n\t// TODO\n}",
		"def f():\n    # TODO: implement\n    ...",
		"The comment TODO marks open work, and TBD means to be determined.",
		"TODO:\n- buy milk\n- call Ana",
		"# TODO\n\n- buy milk\n- call Ana",
		"See [your account](https://example.com/a) and [insert mode][1].",
		"Matrix [1, 2] and set {{a}, {b}} and {{1, 2}}.",
		`The formula \frac{{x}}{2} has a power set {{a}}.`,
		"Replace <your-api-key> with the key from the page.",
		"The quote reads: he left [...] and came back.",
		"a < b and b > c, so <b> is bold.",
		"He asked: why???",
		"Die Folge 1, 2, 3, ... divergiert.",
		"La suite 1, 2, 3... diverge; [1] le prouve.",
		"列表为 1、2、3……，以此类推。",
		"Todo está bien.",
		"El plan es todo o nada.",
		"- [ ] write the tests\n- [x] write the code",
		"<div>",
		"array[index] = value",
		"Look up m[your] and then m[placeholder] in turn",
	}
	runTexts(t, Config{Placeholder: PlaceholderCheck{On: true, Phrases: []string{"$$$"}}}, Placeholder, bad, good)
}

func TestHedges(t *testing.T) {
	bad := []string{
		"I'm not sure. My best guess is 5.",
		"I am not certain about this. I might be wrong, but it is 5.",
		"I don't know. It could be 5, but that is just a guess. I could be wrong.",
		"It may be 5, though I’m not sure. I have no idea why.",
	}
	good := []string{
		"I'm not sure why the old code did this, but the sum is 5.",
		"It is possible that x is even. It may also be odd.",
		`She said "I don't know" and "I'm not sure".`,
		"The estimate is probably within 5 %. Perhaps less.",
		"Whether P equals NP is not known.",
		"Nobody knows the exact count.",
		"The witness is not certain. The judge is not sure.",
		"> I'm not sure.\n> I don't know.\n\nThose are hedges.",
		"Vielleicht regnet es. Möglicherweise nicht.",
		"Peut-être qu'il pleut.",
		"Quizás llueva.",
		"也许会下雨。",
		"たぶん雨です。",
		"Возможно, будет дождь.",
	}
	runTexts(t, Config{LowConfidence: LowConfidenceCheck{On: true, Hedges: 2}}, LowConfidence, bad, good)
}

// Phrases of other languages are the user's, for every check that has phrases.
func TestPhrases(t *testing.T) {
	for _, test := range []struct {
		name   string
		config Config
		bad    []string
	}{
		{Refusal, Config{Refusal: RefusalCheck{On: true, Words: true, Phrases: []string{"Dabei kann ich", "我无法"}}},
			[]string{"Dabei kann ich Ihnen nicht helfen.", "我无法协助您完成这个请求。"}},
		{MetaChatter, Config{MetaChatter: MetaChatterCheck{On: true, Phrases: []string{"Ich hoffe, das hilft", "希望这"}}},
			[]string{"Die Summe ist 5. Ich hoffe, das hilft dir weiter!", "总和是5。希望这对你有帮助！"}},
		{Placeholder, Config{Placeholder: PlaceholderCheck{On: true, Phrases: []string{"Name einfügen", "待补充"}}},
			[]string{"Sehr geehrte Frau [Name einfügen],", "结论：待补充"}},
		{LowConfidence, Config{LowConfidence: LowConfidenceCheck{On: true, Hedges: 2, Phrases: []string{"Ich weiß es nicht", "bin mir nicht sicher"}}},
			[]string{"Ich bin mir nicht sicher. Ich weiß es nicht."}},
		{SelfContradiction, Config{SelfContradiction: SelfContradictionCheck{On: true, Phrases: []string{"Moment, nein,", "等等,不对"}}},
			[]string{"Es sind 5. Moment, nein, es sind 6.", "结果是5。等等，不对，结果是6。"}},
	} {
		if err := test.config.Validate(); err != nil {
			t.Errorf("Validate() of the phrases of %s = %v, want nil", test.name, err)
		}
		runTexts(t, test.config, test.name, test.bad, nil)
		for _, text := range test.bad {
			if f := Strict(); f.Check(&Answer{Text: text, Stop: "end", OutputTokens: 10}) != nil {
				t.Errorf("Strict().Check(%q) = a flag, want nil: the phrase is not English", text)
			}
		}
	}
}
