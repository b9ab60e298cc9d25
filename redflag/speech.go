package redflag

import (
	"cmp"
)

// check looks for a refusal in the first two sentences: one that comes later is
// usually about something else.
func (c *RefusalCheck) check(_ string, p []sentence) *Flag {
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

func (c *MetaChatterCheck) check(_ string, p []sentence) *Flag {
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
	if len(p) > 1 { // a text that is only this was asked for
		if phrase := startsWith(p[len(p)-1].own, closings); phrase != "" {
			return New(MetaChatter, "closes with %q", phrase)
		}
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

func (c *LowConfidenceCheck) checkHedges(_ string, p []sentence) *Flag {
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
