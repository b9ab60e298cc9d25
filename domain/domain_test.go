package domain_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

// prefixed reads what follows a prefix that its parameters name.
type prefixed string

func (p prefixed) Read(text string) (domain.Answer, *redflag.Flag) {
	rest, ok := strings.CutPrefix(text, string(p))
	if !ok {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "no %s", string(p))
	}
	return domain.Answer{Value: json.RawMessage(rest), Key: rest}, nil
}

func TestReaders(t *testing.T) {
	errBroken := errors.New("broken")
	readers := domain.Readers{
		"prefixed": func(params json.RawMessage) (domain.Reader, error) {
			var prefix string
			err := json.Unmarshal(params, &prefix)
			return prefixed(prefix), err
		},
		"broken": func(json.RawMessage) (domain.Reader, error) { return nil, errBroken },
	}

	r, err := readers.New("prefixed", json.RawMessage(`"answer: "`))
	if err != nil {
		t.Fatalf("New(prefixed) = %v", err)
	}
	if a, flag := r.Read("answer: 7"); flag != nil || a.Key != "7" || string(a.Value) != "7" {
		t.Errorf("Read(answer: 7) = %+v, %+v, want 7", a, flag)
	}
	if a, flag := r.Read("7"); flag == nil || a.Key != "" {
		t.Errorf("Read(7) = %+v, %+v, want a red flag", a, flag)
	}

	// What is wrong names the reader; what the reader says stays to be found.
	if _, err := readers.New("prefixed", json.RawMessage(`7`)); err == nil || !strings.Contains(err.Error(), "reader prefixed") {
		t.Errorf("New(prefixed, 7) = %v, want an error that names the reader", err)
	}
	if r, err := readers.New("broken", nil); !errors.Is(err, errBroken) || r != nil {
		t.Errorf("New(broken) = %v, %v, want nil and %v", r, err, errBroken)
	}
	for _, readers := range []domain.Readers{readers, nil} {
		if r, err := readers.New("other", nil); err == nil || !strings.Contains(err.Error(), `"other"`) || r != nil {
			t.Errorf("New(other) = %v, %v, want an error that names it", r, err)
		}
	}
}
