// Package recorded writes the calls to a model to a file, and answers from such
// a file. So a run against a real model can be repeated without one.
//
// # The file
//
// One JSON object a line, in the order in which the calls ended:
//
//	{"hash":"9f86...","request":{...},"response":{"text":"...",...}}
//	{"hash":"9f86...","request":{...},"error":{"kind":"overloaded",...}}
//
// The hash is that of the request as it was sent, before anything was redacted,
// and is what a call is found by. A line written by hand may leave it out.
// Fields that this version does not know are passed over.
//
// # Calls that were given up
//
// A call whose caller gave up never had an answer. It is recorded as cancelled,
// and played back the same way: after all answers to the same request, the
// caller of one more waits until it gives up again.
package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/maker-mdap/maker/model"
)

// A line is one recorded call. Exactly one of Response and Error is set.
type line struct {
	Hash     string          `json:"hash,omitempty"`
	Request  *model.Request  `json:"request,omitempty"`
	Response *model.Response `json:"response,omitempty"`
	Error    *failure        `json:"error,omitempty"`
}

// A failure is a [model.Error] in the file.
type failure struct {
	Kind         model.Kind `json:"kind"`
	Provider     string     `json:"provider,omitempty"`
	Status       int        `json:"status,omitempty"`
	Message      string     `json:"message,omitempty"`
	RetryAfterMS int64      `json:"retry_after_ms,omitempty"`
	RetryNow     bool       `json:"retry_now,omitempty"`
}

func newFailure(e *model.Error) *failure {
	f := &failure{
		Kind:         e.Kind,
		Provider:     e.Provider,
		Status:       e.Status,
		Message:      e.Message,
		RetryAfterMS: e.RetryAfter.Milliseconds(),
		RetryNow:     e.RetryNow,
	}
	if f.Message == "" && e.Err != nil {
		f.Message = e.Err.Error()
	}
	return f
}

func (f *failure) modelError() *model.Error {
	return &model.Error{
		Kind:       f.Kind,
		Provider:   f.Provider,
		Status:     f.Status,
		Message:    f.Message,
		RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond,
		RetryNow:   f.RetryNow,
	}
}

// Hash identifies a request by what the model sees of it. It does not change
// when requests get further fields.
func Hash(req *model.Request) string {
	seen := *req
	seen.CachePrefix = false // it changes what is paid, not what is asked
	if len(seen.Messages) == 0 {
		seen.Messages = []model.Message{}
	}
	text, err := json.Marshal(seen)
	if err != nil {
		// Only a temperature that is not a number cannot be encoded, and no
		// provider takes one. Such requests share a hash.
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
