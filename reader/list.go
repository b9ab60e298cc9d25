package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/jsonpart"
	"github.com/maker-mdap/maker/redflag"
)

// List reads a list of what another reader reads: as JSON, as lines with bullets or
// numbers, or with commas between the items.
type List struct {
	Of Reader

	// Unordered says that lists agree whatever their order.
	Unordered bool
}

type listParams struct {
	Of        flow.Format `json:"of"`
	Unordered bool        `json:"unordered,omitempty"`
}

// UnmarshalJSON reads what Format wrote.
func (l *List) UnmarshalJSON(data []byte) error {
	var p listParams
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	of, err := Of(p.Of)
	*l = List{of, p.Unordered}
	return err
}

// Validate implements [Reader].
func (l List) Validate() error {
	if l.Of == nil {
		return errors.New("reader: a list of what?")
	}
	if _, ok := l.Of.(JSON); ok {
		return errors.New("reader: a list of JSON is JSON whose schema is that of a list")
	}
	return l.Of.Validate()
}

// Format implements [Reader].
func (l List) Format() flow.Format { return format(nameList, listParams{l.Of.Format(), l.Unordered}) }

// JSONSchema implements [Reader].
func (l List) JSONSchema() json.RawMessage {
	return encode(map[string]any{"type": "array", "items": l.Of.JSONSchema()})
}

// Instruction implements [Reader].
func (l List) Instruction() string {
	order := "in their order"
	if l.Unordered {
		order = "in any order, each once"
	}
	return fmt.Sprintf("Answer with a JSON list of the items, %s, and nothing else; [] if there are none. For each item: %s", order, l.Of.Instruction())
}

func (l List) open() (form, error) {
	of, err := l.Of.open()
	if err != nil {
		return nil, err
	}
	return &lists{of: of, List: l}, nil
}

type lists struct {
	List
	of form
}

func (l *lists) again() form { return &lists{of: l.of.again(), List: l.List} }

func (l *lists) text(said string) (item, *redflag.Flag) {
	if whole, ok := jsonpart.Whole(said); ok && strings.IndexByte(`{["`, whole[0]) >= 0 {
		return l.field(whole)
	}
	if it, found, flag := l.inParts(said); found {
		return it, flag
	}
	return l.words(said)
}

// words reads a list that is not JSON.
func (l *lists) words(said string) (item, *redflag.Flag) {
	said = plainText(said)
	lines := strings.Split(said, "\n")
	var last string
	for i := range lines {
		for _, c := range called(lines, i) {
			last = c.phrase
		}
	}
	if last != "" && !listed.MatchString(last) {
		if it, flag := l.phrase(last); flag == nil {
			return it, nil
		}
	}
	if blocks, flag := bulleted(lines); flag != nil || len(blocks) > 0 {
		switch {
		case flag != nil:
		case len(blocks) > 1:
			flag = unreadable("%d lists, and it is not clear which one is the answer", len(blocks))
		case len(blocks[0]) == 1 && l.ofTexts() && (nothing.MatchString(bare(blocks[0][0])) || inline.MatchString(blocks[0][0])):
			flag = unreadable("it is not clear whether this is one item: %s", blocks[0][0])
		}
		if flag != nil {
			return item{}, flag
		}
		return l.items(blocks[0])
	}
	if announced, after, ok := strings.Cut(said, ":\n"); ok && !denial.MatchString(announced) {
		said = strings.TrimSpace(after)
	}
	if lines = strings.Split(said, "\n"); len(lines) > 1 {
		lines = slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" })
		if flag := l.prose(lines); flag != nil {
			return item{}, flag
		}
		return l.items(lines)
	}
	return l.phrase(said)
}

// inParts reads the JSON lists that stand in a text: there may be one, or several that
// are the same.
func (l *lists) inParts(said string) (it item, found bool, flag *redflag.Flag) {
	var all []item
	for _, part := range jsonpart.All(said) {
		if it, flag := l.field(part); flag == nil {
			all = append(all, it)
		}
	}
	return agree(all)
}

func (l *lists) field(raw json.RawMessage) (item, *redflag.Flag) {
	raw = json.RawMessage(strings.TrimSpace(string(raw)))
	if isJSONText(raw) {
		var said string
		if err := json.Unmarshal(raw, &said); err != nil {
			return item{}, unreadable("%v", err)
		}
		if strings.TrimSpace(said) == "" {
			return l.join(nil)
		}
		if whole, ok := jsonpart.Whole(said); ok && whole[0] == '[' {
			return l.field(whole)
		}
		return l.words(said)
	}
	if inner, ok := unwrap(raw); ok && len(inner) > 0 && strings.IndexByte(`["`, inner[0]) >= 0 {
		return l.field(inner)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil || parts == nil {
		return item{}, unreadable("want a list, not %s", raw)
	}
	var all []item
	for i, part := range parts {
		it, flag := l.of.field(part)
		if flag != nil {
			return item{}, redflag.New(flag.Name, "item %d: %s", i+1, flag.Reason)
		}
		all = append(all, it)
	}
	return l.join(all)
}

// join makes one answer of the items.
func (l *lists) join(all []item) (item, *redflag.Flag) {
	values, keys := make([]json.RawMessage, 0, len(all)), make([]string, 0, len(all))
	for _, it := range all {
		values, keys = append(values, it.value), append(keys, it.key)
	}
	if l.Unordered {
		slices.Sort(keys)
	}
	return item{value: encode(values), key: "[" + strings.Join(keys, ",") + "]"}, nil
}

// items reads an item from each text.
func (l *lists) items(texts []string) (item, *redflag.Flag) {
	var all []item
	for i, text := range texts {
		it, flag := l.of.text(strings.TrimSpace(text))
		if flag != nil {
			return item{}, redflag.New(flag.Name, "item %d: %s", i+1, flag.Reason)
		}
		all = append(all, it)
	}
	return l.join(all)
}

var (
	nothing = regexp.MustCompile(`(?i)^(?:none|nothing|empty|no items|keine|aucun|ninguno)$`)
	lastAnd = regexp.MustCompile(`(?i)^(?:and|und|et|y|e|&)\s+`)
	between = regexp.MustCompile(`(?i)\s+(?:and|und|et|y|&)\s+`)
	mark    = regexp.MustCompile(`[0-9],[0-9]`) // that of thousands, of a fraction, or of a list
	inline  = regexp.MustCompile(`\s[0-9]{1,3}[.)]\s`)
	quoted  = regexp.MustCompile(`^(?:"[^"\\]*"|'[^'\\]*')$`)
)

// phrase reads items on one line, with commas or semicolons between them.
func (l *lists) phrase(phrase string) (item, *redflag.Flag) {
	phrase = strings.TrimRight(strings.Trim(strings.TrimSpace(phrase), "*_ "), ". ")
	inner, bracketed := strings.CutPrefix(phrase, "[")
	if inner, closed := strings.CutSuffix(inner, "]"); closed && bracketed {
		phrase = inner
	}
	if nothing.MatchString(bare(phrase)) || strings.TrimSpace(phrase) == "" {
		if it, flag := l.of.text(phrase); flag == nil && !l.ofTexts() { // an option may be called none
			return l.join([]item{it})
		}
		return l.join(nil)
	}
	separator := ","
	if strings.Contains(phrase, ";") {
		separator = ";"
	}
	if _, isNumber := l.Of.(Number); isNumber && separator == "," && mark.MatchString(phrase) {
		if separator = ", "; !strings.Contains(phrase, ", ") && strings.Contains(phrase, ",") {
			return item{}, unreadable("%s may be one number or several", phrase)
		}
	}
	parts := strings.Split(phrase, separator)
	var texts []string
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if i == len(parts)-1 {
			part = lastAnd.ReplaceAllString(part, "")
		}
		switch {
		case part == "" && i == len(parts)-1:
			continue
		case part == "":
			return item{}, unreadable("item %d is empty: %s", i+1, phrase)
		}
		// What two words with "and" between them are only the item's reader can tell;
		// of texts nobody can.
		if pair := between.Split(part, -1); !l.ofTexts() && len(pair) > 1 {
			if _, flag := l.of.text(part); flag != nil {
				texts = append(texts, pair...)
				continue
			}
		}
		texts = append(texts, part)
	}
	if flag := l.prose(texts); flag != nil {
		return item{}, flag
	}
	if flag := unreadable("one text without brackets or a bullet may be no list: %s", phrase); l.ofTexts() && len(texts) == 1 && !bracketed && !quoted.MatchString(texts[0]) {
		return item{}, flag
	}
	return l.items(texts)
}

func (l *lists) ofTexts() bool {
	_, ok := l.Of.(Text)
	return ok
}

// prose tells what may be a sentence, or JSON that is broken, from a list of texts: its
// items are single words, or in quotation marks, which are taken off. Of other items
// their reader knows what they are.
func (l *lists) prose(texts []string) *redflag.Flag {
	for i, text := range texts {
		if text = strings.TrimSpace(text); !l.ofTexts() {
			continue
		}
		if quoted.MatchString(text) {
			texts[i] = text[1 : len(text)-1]
			continue
		}
		if strings.ContainsAny(text, " \t\"'`[]{}?!:") || denial.MatchString(text) || nothing.MatchString(text) {
			return unreadable("item %d may be a part of a sentence: %s", i+1, text)
		}
	}
	return nil
}

// listItem is a line of a list.
var listItem = regexp.MustCompile(`^([ \t]*)(?:[-*+•–][ \t]+|\(?[0-9]{1,3}[.)][ \t]+)(\S.*)$`)

// bulleted are the lists in a text whose lines have bullets or numbers.
func bulleted(lines []string) ([][]string, *redflag.Flag) {
	var blocks [][]string
	open, indent, before := false, "", ""
	for _, line := range lines {
		line = strings.TrimRight(line, "\n\r ")
		if m := listItem.FindStringSubmatch(line); m != nil {
			switch {
			case !open && denial.MatchString(before):
				return nil, unreadable("it may not be the list that was asked for: %s", before)
			case !open:
				blocks, open, indent = append(blocks, nil), true, m[1]
			case m[1] != indent:
				return nil, unreadable("a list in a list: %s", strings.TrimSpace(line))
			}
			blocks[len(blocks)-1] = append(blocks[len(blocks)-1], m[2])
		} else if line != "" {
			open, before = false, line
		}
	}
	return blocks, nil
}
