package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/yamlclean"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// MappingReader is the reader of answers that are mappings, such as those of the
// steps of a plan.
const MappingReader = "mapping"

// FlagError is the red flag of an answer that says that the step cannot be done.
const FlagError = "error"

// A MappingFormat is the parameters of a [MappingReader].
type MappingFormat struct {
	Key vote.KeyOptions `json:"key"`
}

// Readers are the readers that the executor's questions name.
func Readers() domain.Readers {
	return domain.Readers{MappingReader: func(params json.RawMessage) (domain.Reader, error) {
		var format MappingFormat
		if len(params) > 0 {
			if err := json.Unmarshal(params, &format); err != nil {
				return nil, err
			}
		}
		if err := format.Key.Validate(); err != nil {
			return nil, err
		}
		clusters, err := vote.NewClusters(format.Key)
		if err != nil {
			return nil, err
		}
		return &mappingReader{format.Key, clusters}, nil
	}}
}

type mappingReader struct {
	key      vote.KeyOptions
	clusters *vote.Clusters
}

// Read implements [domain.Reader].
func (r *mappingReader) Read(text string) (domain.Answer, *redflag.Flag) {
	value, err := readMapping(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not a mapping")
	}
	if why, said := fields["error"]; said && !bytes.Equal(why, []byte("null")) && !bytes.Equal(why, []byte(`""`)) && !bytes.Equal(why, []byte("false")) {
		return domain.Answer{}, redflag.New(FlagError, "the answer is an error: %.300s", why)
	}
	key, err := vote.Canonical(value, r.key)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.MissingField, "%v", err)
	}
	return domain.Answer{Value: value, Key: r.clusters.Key(key)}, nil
}

func readMapping(text string) (json.RawMessage, error) {
	root, err := yamlclean.Load(text)
	if err != nil {
		var e *yamlclean.ParseError
		if errors.As(err, &e) {
			return nil, fmt.Errorf("the answer is not YAML: %w", e)
		}
		return nil, err
	}
	return yamlclean.Decode(root)
}
