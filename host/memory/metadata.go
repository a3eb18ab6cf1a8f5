package memory

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/internal/mergepatch"
)

// metadata reads and merges the metadata of sessions under the limits of a Service.
type metadata struct{ s *Service }

var _ session.Metadata = metadata{}

// Patch implements session.Metadata.
func (m metadata) Patch(text json.RawMessage) (any, error) {
	if kind.IsAbsent(text) {
		return nil, nil
	}
	if err := m.s.limits.content().Check(text); err != nil {
		return nil, err
	}
	patch, err := kind.Decode(text)
	if err != nil {
		return nil, err
	}
	if _, ok := patch.(map[string]any); !ok {
		return nil, abi.Faultf(abi.InvalidArgument, "the session's metadata must be an object")
	}
	return patch, nil
}

// Merge implements session.Metadata.
func (m metadata) Merge(old json.RawMessage, patch any) (json.RawMessage, error) {
	var before any = map[string]any{}
	if len(old) > 0 {
		decoded, err := kind.Decode(old)
		if err != nil {
			return nil, err
		}
		before = decoded
	}
	return m.s.limits.content().Encode(mergepatch.Apply(before, patch))
}
