package sim

// An answer in prose is some prose and then fields, each on a line of its own;
// a structured one is a JSON object of these fields. The functions below write
// either.

// prose appends what only prose has.
func (d *decision) prose(buf []byte, text string) []byte {
	if d.structured {
		return buf
	}
	return append(buf, text...)
}

// field starts a field, for a value to follow.
func (d *decision) field(buf []byte, first bool, name string) []byte {
	switch {
	case d.structured && first:
		buf = append(buf, '{', '"')
	case d.structured:
		buf = append(buf, ", \""...)
	case !first:
		buf = append(buf, '\n')
	}
	buf = append(buf, name...)
	if d.structured {
		return append(buf, "\": "...)
	}
	return append(buf, " = "...)
}

// end ends the fields.
func (d *decision) end(buf []byte) []byte {
	if d.structured {
		return append(buf, '}')
	}
	return buf
}

// text appends a value that is text.
func (d *decision) text(buf []byte, text string) []byte {
	if d.structured {
		return append(append(append(buf, '"'), text...), '"')
	}
	return append(buf, text...)
}

// chat appends prose where fields were asked for. The text needs no escaping.
func (d *decision) chat(buf []byte, text string) []byte { return d.alone(buf, "explanation", text) }

// alone appends a text alone, as an object in a field of this name.
func (d *decision) alone(buf []byte, name, text string) []byte {
	if !d.structured {
		return append(buf, text...)
	}
	return d.end(d.text(d.field(buf, true, name), text))
}

const waste = "Wait, let me go over this once more before I settle on anything. "

// appendRamble wastes as many tokens as the decision says. A model that may only
// write JSON does so with white space, and real ones do.
func (d *decision) appendRamble(buf []byte) []byte {
	waste := waste
	if d.structured {
		waste = "\n        "
	}
	for end := len(buf) + d.ramble*bytesPerToken; len(buf) < end; {
		buf = append(buf, waste...)
	}
	if d.ramble > 0 {
		buf = append(buf, '\n')
	}
	return buf
}

// rambleBefore is what stands before an answer that is some data: a comment, because
// prose there would keep some readers from finding it.
func (d *decision) rambleBefore() string {
	text := string(d.appendRamble(nil))
	if text == "" || d.structured {
		return text
	}
	return "# " + text
}

// say appends one of the phrases, always the same for the same answer to the
// same step.
func (d *decision) say(buf []byte, salt int, phrases ...string) []byte {
	i := (d.step>>32 + uint64(salt)) % uint64(len(phrases))
	return d.prose(buf, phrases[i])
}
