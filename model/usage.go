package model

import (
	"fmt"

	"github.com/maker-mdap/maker/usage"
)

// What a provider may say beyond what follows from the request. The bounds are wide,
// because honest servers add prompts of their own, think in secret, or pass over a
// limit: what is beyond them is not an odd way of counting.
const (
	extraInput    = 1 << 20 // tokens, such as pages that the server itself looked up
	extraOutput   = 1 << 16 // tokens of thinking
	leeway        = 4       // by which a limit, or a count of bytes, may be passed
	defaultOutput = 1 << 17 // tokens of an answer without a limit
)

// CheckUsage holds what a provider says that its answers to req took against what can
// be true. n answers were asked for. It returns nil if there is nothing to say, and
// else an error of the kind [BadUsage]: the answers may be billed, at a price that
// nobody can tell.
func CheckUsage(req *Request, n int, answers ...*Response) *Error {
	var total usage.Tokens
	var size int64
	for _, r := range answers {
		if err := usage.Check(r.Usage, r.CostUSD); err != nil {
			return badUsage(err.Error())
		}
		total = total.Add(r.Usage)
		size += int64(r.bytes())
	}
	asked := int64(req.MaxOutput)
	if asked <= 0 {
		asked = defaultOutput
	}
	asked = min(asked, 1<<40)
	// A token is a byte at least, so that an answer has no more tokens than bytes, but
	// for thinking that is not shown.
	if written, most := total.Output+total.Reasoning, extraOutput+leeway*asked*int64(max(n, 1))+size; written > most {
		return badUsage(fmt.Sprintf("%d tokens of output for an answer of %d bytes, where %d were asked for", written, size, asked))
	}
	if read := total.Input + total.CacheRead + total.CacheWrite; read > extraInput && read > extraInput+leeway*int64(req.Bytes()) {
		return badUsage(fmt.Sprintf("%d tokens of input for a request of %d bytes", read, req.Bytes()))
	}
	return nil
}

func badUsage(what string) *Error {
	return &Error{Kind: BadUsage, Message: "what the answer is said to have taken cannot be true: " + what}
}

// bytes is the size of what was written.
func (r *Response) bytes() int {
	n := len(r.Text)
	for _, c := range r.ToolCalls {
		n += len(c.Name) + len(c.Input)
	}
	return n
}
