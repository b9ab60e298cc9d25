package ballot

import (
	"sync"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
)

// knownReaders are those of formats that were asked for before: many questions are read alike,
// and a JSON schema takes longer to understand than an answer that fits it.
type knownReaders struct {
	mu       sync.Mutex
	byFormat map[format]domain.Repeatable
}

// A format is one as a key.
type format struct{ reader, params string }

// maxKnown bounds how many formats are remembered. Whoever has more has a new one each time.
const maxKnown = 100

// reader returns a reader for one question.
func (b *Ballot) reader(f flow.Format) (domain.Reader, error) {
	if len(f.Params) == 0 {
		return b.readers.New(f.Reader, nil)
	}
	k := &b.known
	k.mu.Lock()
	known, ok := k.byFormat[format{f.Reader, string(f.Params)}]
	k.mu.Unlock()
	if ok {
		return known.Again(), nil
	}
	r, err := b.readers.New(f.Reader, f.Params)
	if err != nil {
		return nil, err
	}
	if again, ok := r.(domain.Repeatable); ok {
		k.mu.Lock()
		defer k.mu.Unlock()
		if len(k.byFormat) >= maxKnown || k.byFormat == nil {
			k.byFormat = map[format]domain.Repeatable{}
		}
		k.byFormat[format{f.Reader, string(f.Params)}] = again
		return again.Again(), nil // the one that is kept has read nothing
	}
	return r, nil
}
