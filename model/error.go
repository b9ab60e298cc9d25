package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies what went wrong with a call, which decides what to do next.
type Kind string

// The kinds of error.
const (
	Invalid     Kind = "invalid"      // the request is wrong; sending it again cannot help
	Auth        Kind = "auth"         // the key is missing, wrong or lacks a right
	RateLimited Kind = "rate_limited" // too many requests; slow down and try again
	Overloaded  Kind = "overloaded"   // the provider has no capacity; try again later
	Transient   Kind = "transient"    // 5xx, broken connection, timeout; try again
	TooLong     Kind = "too_long"     // the request exceeds the model's context
	Refused     Kind = "refused"      // the provider's filter declined to answer
	Cancelled   Kind = "cancelled"    // the caller gave up
	BadUsage    Kind = "bad_usage"    // what the provider says the answer took cannot be true
)

// Retryable reports whether sending the same request again may succeed.
func (k Kind) Retryable() bool {
	return k == RateLimited || k == Overloaded || k == Transient || k == BadUsage
}

// An Error is a call that produced no answer.
type Error struct {
	Kind     Kind
	Provider string // "openai", "sim", ...
	Status   int    // HTTP status, 0 if there was none
	Message  string // what the provider said, or what broke

	// RetryAfter is how long the provider asked to wait; 0 if it did not say.
	RetryAfter time.Duration

	// RetryNow says that RetryAfter is 0 because the provider asked for no wait.
	RetryNow bool

	// NotSent says that the request certainly did not reach the provider, so that
	// nothing can be billed for it.
	NotSent bool

	// TimedOut says that no answer came in time. A call waits in the queue of its server
	// too, so that may mean that there are too many of them.
	TimedOut bool

	// Faults are the attempts before this one, filled in by the retry decorator.
	Faults []*Error

	Err error // the cause, if there is one
}

// Error names the provider, the status and the provider's own words.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		b.WriteString(": ")
	}
	b.WriteString(strings.ReplaceAll(string(e.Kind), "_", " "))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	} else if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err. An error that no provider classified counts
// as cancelled if it comes from a context the caller ended, else as transient.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if errors.Is(err, context.Canceled) {
		return Cancelled
	}
	return Transient
}

// AsError returns err as an [*Error], wrapping it if no provider classified it.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: KindOf(err), Err: err}
}
