package problem

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A puzzle is a small question about words. Voters are measured with such
// questions where nothing is known about the problems to come.
type puzzle struct {
	question string
	answer   string
	others   []string // answers of the same kind
}

var puzzles = []struct {
	form  *regexp.Regexp
	solve func(match []string) (answer string, others []string)
}{
	{regexp.MustCompile(`(?i)^write the word "([a-z]{2,40})" backwards`), func(m []string) (string, []string) {
		letters := []byte(m[1])
		slices.Reverse(letters)
		return string(letters), nil
	}},
	{regexp.MustCompile(`(?i)^how many letters does the word "([a-z]{1,40})" have`), func(m []string) (string, []string) {
		return strconv.Itoa(len(m[1])), nil
	}},
	{regexp.MustCompile(`(?i)^which month comes (\w+) months? (after|before) (\w+)`), func(m []string) (string, []string) {
		by := slices.Index(numberWords, strings.ToLower(m[1]))
		from := slices.IndexFunc(months, func(month string) bool { return strings.EqualFold(month, m[3]) })
		if by < 0 || from < 0 {
			return "", nil
		}
		if strings.EqualFold(m[2], "before") {
			by = -by
		}
		answer := months[(from+by+len(months))%len(months)]
		return answer, slices.DeleteFunc(slices.Clone(months), func(month string) bool { return month == answer })
	}},
	{regexp.MustCompile(`(?i)^what is the largest number (?:of|in) this list: ([\d, ]+)`), func(m []string) (string, []string) {
		numbers, ok := readNumbers(strings.TrimRight(m[1], ", "))
		if !ok || len(numbers) == 0 {
			return "", nil
		}
		return strconv.FormatInt(slices.Max(numbers), 10), nil
	}},
	{regexp.MustCompile(`(?i)^put these words in alphabetical order[^:]*: ([a-z]+(?:, [a-z]+)*)`), func(m []string) (string, []string) {
		words := strings.Split(m[1], ", ")
		slices.Sort(words)
		return strings.Join(words, ", "), nil
	}},
}

var (
	numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
	months      = strings.Fields("January February March April May June July August September October November December")
)

func readPuzzle(text string) Problem {
	for _, p := range puzzles {
		m := p.form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if answer, others := p.solve(m); answer != "" {
			return puzzle{text, answer, others}
		}
	}
	return nil
}

func (p puzzle) String() string              { return p.question }
func (p puzzle) Operations() int             { return 1 }
func (p puzzle) Split(bool) (Split, bool)    { return Split{}, false }
func (p puzzle) Spoil(s Split, _ Slip) Split { return s } // the whole as a part

func (p puzzle) Solution(mistakes []Slip) (string, bool) {
	text := p.answer
	for _, m := range mistakes {
		text = p.off(text, m)
	}
	return text, true
}

// off is another answer of the same kind, a number that is not quite right, or a
// word with a letter left out.
func (p puzzle) off(text string, s Slip) string {
	if len(p.others) > 0 {
		return p.others[s.Among(len(p.others))]
	}
	if n, ok := new(big.Rat).SetString(text); ok {
		return Number{Value: n}.Off(s).Text()
	}
	if text == "" {
		return "?"
	}
	at := s.Among(len(text))
	return text[:at] + text[at+1:]
}

// Confuse asks for a sum that has nothing to do with it.
func (p puzzle) Confuse() Problem {
	n := wholeNumber(big.NewInt(int64(len(p.question))))
	return Calculation{expr: &expr{op: '+', left: n, right: n}}
}
