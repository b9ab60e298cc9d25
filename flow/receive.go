package flow

import (
	"encoding/json"
	"errors"
)

// A Receiver is a flow to which requests come from outside: see [Receive].
type Receiver interface {
	Receive(key string, handle func(n int, request json.RawMessage, f Flow) (*Verdict, error)) error
}

// Receive calls handle for each request that comes from outside while the run goes on, many
// at the same time, until no more will come. N numbers them through the whole run, and keys
// in the flow that handle gets need to be unique only within it. What handle makes of a
// request goes to whoever made it; an error ends the run, unless whoever made the request has
// gone: then the flow of this request ends alone.
//
// A request is not asked again by a resume: whoever made it is not there any more.
func Receive(f Flow, key string, handle func(n int, request json.RawMessage, f Flow) (*Verdict, error)) error {
	r, ok := f.(Receiver)
	if !ok {
		return errors.New("flow: nothing comes from outside here")
	}
	return r.Receive(key, handle)
}
