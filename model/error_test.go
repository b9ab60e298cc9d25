package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/maker-mdap/maker/model"
)

func TestRetryable(t *testing.T) {
	want := map[model.Kind]bool{
		model.Invalid: false, model.Auth: false, model.RateLimited: true, model.Overloaded: true,
		model.Transient: true, model.TooLong: false, model.Refused: false, model.Cancelled: false, model.BadUsage: true,
		"": false, "unheard of": false,
	}
	for kind, retry := range want {
		if got := kind.Retryable(); got != retry {
			t.Errorf("%q.Retryable() = %t, want %t", kind, got, retry)
		}
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		err  model.Error
		want string
	}{
		{model.Error{Kind: model.Transient}, "transient"},
		{model.Error{Kind: model.RateLimited, Provider: "openai", Status: 429, Message: "slow down"}, "openai: rate limited (HTTP 429): slow down"},
		{model.Error{Kind: model.TooLong, Provider: "sim"}, "sim: too long"},
		{model.Error{Kind: model.BadUsage, Provider: "compat", Message: "a cost of 1e+308 dollars"}, "compat: bad usage: a cost of 1e+308 dollars"},
		{model.Error{Kind: model.Transient, Provider: "compat", Err: io.ErrUnexpectedEOF}, "compat: transient: unexpected EOF"},
		{model.Error{Kind: model.Auth, Message: "no such key", Err: io.EOF}, "auth: no such key"}, // the provider's words go first
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.want {
			t.Errorf("Error(%+v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	auth := &model.Error{Kind: model.Auth}
	tests := []struct {
		err  error
		want model.Kind
	}{
		{auth, model.Auth},
		{fmt.Errorf("sample 3: %w", auth), model.Auth},
		{errors.Join(io.EOF, auth), model.Auth},
		{&model.Error{Kind: model.Transient, Err: context.Canceled}, model.Transient}, // a provider's word counts
		{context.Canceled, model.Cancelled},
		{fmt.Errorf("request: %w", context.Canceled), model.Cancelled},
		{context.DeadlineExceeded, model.Transient}, // a timeout: try again
		{io.ErrUnexpectedEOF, model.Transient},
	}
	for _, test := range tests {
		if got := model.KindOf(test.err); got != test.want {
			t.Errorf("KindOf(%v) = %q, want %q", test.err, got, test.want)
		}
		e := model.AsError(test.err)
		if e == nil || e.Kind != test.want {
			t.Errorf("AsError(%v) = %+v, want the kind %q", test.err, e, test.want)
		}
	}
}

func TestAsError(t *testing.T) {
	known := &model.Error{Kind: model.Overloaded, Provider: "openai", Status: 529}
	if got := model.AsError(fmt.Errorf("wrapped: %w", known)); got != known {
		t.Errorf("AsError(wrapped) = %+v, want the error itself", got)
	}
	if got := model.AsError(io.EOF); !errors.Is(got, io.EOF) || got.Error() != "transient: EOF" {
		t.Errorf("AsError(EOF) = %v, want one that wraps it", got)
	}
}

func TestUnwrap(t *testing.T) {
	cause := errors.New("connection reset")
	if err := error(&model.Error{Kind: model.Transient, Err: cause}); !errors.Is(err, cause) {
		t.Errorf("errors.Is(%v, its cause) = false", err)
	}
	if got := (&model.Error{}).Unwrap(); got != nil {
		t.Errorf("Unwrap() without a cause = %v, want nil", got)
	}
}
