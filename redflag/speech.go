package redflag

import (
	"cmp"
	"regexp"
)

// check looks for a refusal in the first two sentences: one that comes later is
// usually about something else.
func (c *RefusalCheck) check(said *said) *Flag {
	p := said.sentences
	phrases := with(refusals, c.Phrases)
	sorry := false
	for _, s := range p[:min(2, len(p))] {
		rest := skip(s.own, apologies)
		// "As a language model, I cannot ..." is as good as an apology.
		sorry = sorry || startsWith(s.own, apologies) != "" || startsWith(rest, selfReferences) != ""
		if phrase := startsWith(rest, phrases); phrase != "" {
			return New(Refusal, "begins with %q", phrase)
		}
		if phrase := contains(s.own, unwilling); sorry && phrase != "" {
			return New(Refusal, "apologises and says %q", phrase)
		}
	}
	return nil
}

func (c *MetaChatterCheck) check(said *said) *Flag {
	p := said.sentences
	if len(p) == 0 {
		return nil
	}
	if phrase := opening(p); phrase != "" {
		return New(MetaChatter, "opens with %q", phrase)
	}
	phrases := with(chatter, c.Phrases)
	for _, s := range p {
		if phrase := cmp.Or(startsWith(s.own, phrases), startsWith(skip(s.own, thinking), phrases)); phrase != "" {
			return New(MetaChatter, "a sentence begins with %q", phrase)
		}
	}
	if c.Musings {
		if phrase := musing(said); phrase != "" {
			return New(MetaChatter, "contains %q", phrase)
		}
	}
	if len(p) > 1 { // a text that is only this was asked for
		if phrase := startsWith(p[len(p)-1].own, closings); phrase != "" {
			return New(MetaChatter, "closes with %q", phrase)
		}
	}
	return nil
}

// musing returns what shows that an answer thinks aloud. Nothing does that the question
// has itself.
func musing(said *said) string {
	for _, s := range said.sentences {
		rest := skip(s.own, thinking)
		phrase := cmp.Or(contains(rest, musings), startsWith(rest, musingOpeners))
		if phrase != "" && contains(rest, quotedMusings) == "" && !said.asks(phrase) {
			return phrase
		}
	}
	return ""
}

// leaked is how calls of tools look in the formats of several providers. A parameter without
// a namespace is also a tag of many files in XML.
var leaked = regexp.MustCompile(`(?i)</?(?:\w+:)?(?:function_calls|invoke[ >])|</?\w+:parameter[ >]|<tool_(?:calls?|use)>|<\|tool|\[tool_calls\]|<function=|\{\s*"(?:tool_calls?|function_call)"|\{\s*"type"\s*:\s*"(?:tool_use|tool_call|function_call)"`)

// check looks everywhere, also in code: no answer to a question that is not about it has
// it.
func (*ToolLeakageCheck) check(said *said) *Flag {
	if found := leaked.FindString(said.text); found != "" && !said.asks(fold(found)) {
		return New(ToolLeakage, "contains %q", found)
	}
	return nil
}

// opening returns the courtesy with which an answer opens. "Of course, x is
// even" and a bare "Certainly!" are answers; "Certainly! Here is" is not.
func opening(p []sentence) string {
	first := p[0].own
	if phrase := startsWith(first, introductions); phrase != "" {
		return phrase
	}
	phrase := startsWith(first, openers)
	if phrase == "" {
		return ""
	}
	rest := skip(first, openers)
	if rest == "" && len(p) > 1 {
		rest = p[1].own
	}
	if startsWith(rest, presentations) != "" {
		return phrase
	}
	return ""
}

func (c *LowConfidenceCheck) checkHedges(said *said) *Flag {
	p := said.sentences
	count, last := 0, ""
	phrases := with(hedges, c.Phrases)
	for _, s := range p {
		if phrase := contains(s.own, phrases); phrase != "" {
			count++
			last = phrase
		}
	}
	if count < c.Hedges {
		return nil
	}
	return New(LowConfidence, "%d sentences of doubt such as %q, limit %d", count, last, c.Hedges-1)
}

// with adds the phrases of a setting to our own.
func with(own, more []string) []string {
	for _, phrase := range more {
		own = append(own[:len(own):len(own)], fold(phrase))
	}
	return own
}
