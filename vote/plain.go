package vote

// Plain returns the key of an answer that is written as its key is, but for white space
// between tokens, and false for all others: of these [Canonical] has to see more than their
// characters one after the other. Of most answers it is all that is needed.
//
// Plain are objects whose fields come in the order of their names, arrays, whole numbers of
// up to 15 digits, literals, and strings of ASCII without escapes and white space other than
// single spaces.
func Plain(raw string) (key string, ok bool) {
	if len(raw) > MaxKeyBytes {
		return "", false
	}
	p := plain{in: raw, out: make([]byte, 0, len(raw))}
	if !p.value(0) {
		return "", false
	}
	if p.space(); p.at != len(raw) {
		return "", false
	}
	return string(p.out), true
}

// maxPlainDepth is how deeply a plain value is nested at most.
const maxPlainDepth = 20

// maxPlainDigits are so few that a floating-point number has them all.
const maxPlainDigits = 15

// plain reads a value from a place on and writes it without white space. Its methods report
// whether it is plain.
type plain struct {
	in  string
	at  int
	out []byte
}

func (p *plain) space() {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\n' || p.in[p.at] == '\t' || p.in[p.at] == '\r') {
		p.at++
	}
}

// take reads a character that has to come next, white space aside.
func (p *plain) take(c byte) bool {
	p.space()
	if p.at == len(p.in) || p.in[p.at] != c {
		return false
	}
	p.at++
	p.out = append(p.out, c)
	return true
}

func (p *plain) value(depth int) bool {
	if p.space(); p.at == len(p.in) || depth > maxPlainDepth {
		return false
	}
	switch c := p.in[p.at]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.text()
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	default:
		return p.number()
	}
}

func (p *plain) object(depth int) bool {
	p.take('{')
	if p.take('}') {
		return true
	}
	before := ""
	for first := true; ; first = false {
		p.space()
		from := p.at
		if !p.text() {
			return false
		}
		name := p.in[from+1 : p.at-1]
		if !first && name <= before {
			return false
		}
		before = name
		if !p.take(':') || !p.value(depth+1) {
			return false
		}
		if p.take('}') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plain) array(depth int) bool {
	p.take('[')
	if p.take(']') {
		return true
	}
	for {
		if !p.value(depth + 1) {
			return false
		}
		if p.take(']') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plain) text() bool {
	if p.at == len(p.in) || p.in[p.at] != '"' {
		return false
	}
	from := p.at
	spaced := true // a space may not come next
	for i := from + 1; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case c == '"':
			if spaced && i > from+1 {
				return false
			}
			p.at = i + 1
			p.out = append(p.out, p.in[from:p.at]...)
			return true
		case c == ' ':
			if spaced {
				return false
			}
			spaced = true
		case c < ' ' || c == '\\' || c >= 0x80:
			return false
		default:
			spaced = false
		}
	}
	return false
}

func (p *plain) literal(word string) bool {
	end := p.at + len(word)
	if end > len(p.in) || p.in[p.at:end] != word {
		return false
	}
	p.at = end
	p.out = append(p.out, word...)
	return true
}

func (p *plain) number() bool {
	from := p.at
	if p.in[p.at] == '-' {
		p.at++
	}
	first := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	switch digits := p.at - first; {
	case digits == 0 || digits > maxPlainDigits:
		return false
	case p.in[first] == '0' && p.at > from+1: // -0, or digits that nobody writes
		return false
	}
	// What makes it another number is no white space, comma or bracket, which are all that
	// is taken next.
	p.out = append(p.out, p.in[from:p.at]...)
	return true
}
