// Package claimcheck keeps what workflows and activities say to each other out of histories:
// it is in the store, and histories have its hash.
package claimcheck

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/maker-mdap/maker/temporal/store"
)

// encoding is what says that a payload is a hash.
const encoding = "maker/value"

// codec puts payloads into the store.
type codec struct{ store store.Store }

// Encode implements [converter.PayloadCodec].
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, err
		}
		hash, err := store.PutValue(context.Background(), c.store, data)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: []byte(hash),
		}
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec].
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encoding {
			out[i] = p
			continue
		}
		data, err := store.GetValue(context.Background(), c.store, string(p.GetData()))
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(data, out[i]); err != nil {
			return nil, fmt.Errorf("the value %s: %w", p.GetData(), err)
		}
	}
	return out, nil
}

// Converters are those of a client and its workers. More are other codecs, such as one that
// encrypts, in the order in which they are applied before a value is stored.
func Converters(s store.Store, more ...converter.PayloadCodec) (converter.DataConverter, converter.FailureConverter, error) {
	if s == nil {
		return nil, nil, errors.New("there is no store")
	}
	codecs := []converter.PayloadCodec{codec{s}} // the last one is applied first
	for i := len(more) - 1; i >= 0; i-- {
		codecs = append(codecs, more[i])
	}
	data := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codecs...)
	failures := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: true, // errors quote what models and tools say
	})
	return data, failures, nil
}
