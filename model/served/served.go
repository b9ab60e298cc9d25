// Package served is the server's side of the wire formats of OpenAI (Chat Completions and
// Responses) and Anthropic (Messages): what a request says, and how an answer is written,
// as one body or as a stream, and an error. Requests are checked as the providers check them,
// and get the provider's words for what is wrong.
package served

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// A Call is a request after its wire format is off.
type Call struct {
	Model   string
	Request model.Request
	Choices int
	Stream  bool
	Usage   bool // whether a stream ends with the usage, where that is optional

	// Tool says what of the tools the answer has to call: [MayCall], [MustNotCall],
	// [MustCall], or [MustCallTool] the one called ToolName.
	Tool     ToolChoice
	ToolName string

	OneCall bool // the answer may call one tool at most

	Stop []string // texts before which the answer ends

	Left []string // what of the messages was passed over, for want of a way to say it

	MaxTokens bool   // the limit came under the older name
	Format    string // the field that asks for structured output
}

// lastTurn is the last message so far, or nil.
func (c *Call) lastTurn() *model.Message {
	if n := len(c.Request.Messages); n > 0 {
		return &c.Request.Messages[n-1]
	}
	return nil
}

// ToolChoice is what of the tools an answer has to call.
type ToolChoice int

// The choices.
const (
	MayCall ToolChoice = iota
	MustNotCall
	MustCall
	MustCallTool
)

// An Envelope is what is written around answers.
type Envelope struct {
	ID          string
	Model       string         // that the answer is said to be from
	Fingerprint string         // empty for none
	Extra       map[string]any // further fields
	Read        usage.Tokens   // what was read, as far as that is known when a stream begins
}

// A Format is one provider's.
type Format interface {
	// Decode reads the body of a request.
	Decode(body []byte) (*Call, *Failure)

	// Body is the answer to a call in one piece.
	Body(e Envelope, c *Call, answers []*model.Response) []byte

	// Stream writes the same in pieces.
	Stream(e Envelope, c *Call) Stream

	// Fail is an error: headers, status and body.
	Fail(header http.Header, f *Failure) (status int, body []byte)
}

// A Stream makes the pieces of an answer, in order: those with which it begins, any number of
// pieces that say that it goes on, and those of the answer, or of an error.
type Stream interface {
	Begin() [][]byte
	Alive() []byte
	Answer(answers []*model.Response, extra map[string]any) [][]byte
	Fail(f *Failure) [][]byte
}

// Frames are all pieces of an answer that is there at once.
func Frames(f Format, e Envelope, c *Call, answers []*model.Response) [][]byte {
	s := f.Stream(e, c)
	return append(s.Begin(), s.Answer(answers, e.Extra)...)
}

// A Failure is an error that the caller is told about.
type Failure struct {
	Class      Class
	Message    string
	Param      string // the field of the request that is wrong, if it is one
	Code       string // what kind of wrong, if the provider has a word for it
	RetryAfter time.Duration
	RetryNow   bool   // 0 is sent as a wait
	Final      bool   // whoever asks again fares the same, and is told so
	ID         string // of the request
}

// hint tells clients whether, and when, to try again: most do so by themselves.
func (f *Failure) hint(header http.Header) {
	if f.Final || f.Class == NoBudget || f.Class == NotAgreed {
		header.Set("X-Should-Retry", "false")
	}
	if f.Class == Overload && f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
}

// For is the format in which a request without a body, or one that nobody has read, is
// answered.
func For(r *http.Request) Format {
	if r.Header.Get("Anthropic-Version") != "" || strings.HasPrefix(r.URL.Path, "/v1/messages") {
		return Messages{}
	}
	return Chat{}
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, format Format, f *Failure) {
	status, body := format.Fail(w.Header(), f)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is not told
}

// Class is what kind of error it is.
type Class int

// The classes.
const (
	BadRequest Class = iota
	NoKey
	NoModel
	NoPath
	WrongMethod
	TooLarge
	RateLimit
	Overload
	Internal

	Forbidden   // the key may not do that
	NoBudget    // what may be spent is spent
	NotAgreed   // there is no answer that enough voters gave
	BadUpstream // whoever was asked did not answer
)

// A Model is one of those that a server has.
type Model struct {
	ID, Name, Owner string
}

// Models lists them, with the fields of both providers, which share the path.
func Models(list []Model) []byte {
	created := time.Unix(0, 0).UTC()
	data := make([]any, len(list))
	first, last := any(nil), any(nil)
	for i, m := range list {
		data[i] = map[string]any{
			"id": m.ID, "object": "model", "created": created.Unix(), "owned_by": m.Owner,
			"type": "model", "display_name": m.Name, "created_at": created.Format(time.RFC3339),
		}
		if last = m.ID; i == 0 {
			first = m.ID
		}
	}
	return marshal(map[string]any{"object": "list", "data": data, "has_more": false, "first_id": first, "last_id": last})
}

// Key is the key that a request brings, in the way of either provider.
func Key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, key, _ := cutSpace(r.Header.Get("Authorization"))
	if scheme != "bearer" {
		return ""
	}
	return key
}
