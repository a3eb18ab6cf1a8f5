package collection

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// newEntry contains the entry that a call of "remember" adds.
type newEntry struct {
	namespace, id string
	ttl           time.Duration
	text          json.RawMessage // a value of the type stored, as JSON
}

// remember performs the operation "remember". remember does not read the previous entry. Therefore
// two runs do not conflict if they remember an entry with the same id. The entry of the later
// commit is then stored. The vector of the entry is computed later by Complete.
func (st *store) remember(ctx context.Context, p kind.NamespacedPartition, content, options json.RawMessage) (json.RawMessage, error) {
	e, err := st.newEntry(content, options)
	if err != nil {
		return nil, err
	}
	space, err := p.Namespace(e.namespace)
	if err != nil {
		return nil, err
	}
	if err := space.CheckWrite(e.ttl); err != nil {
		return nil, err
	}
	vectors, err := space.Pin(ctx, st.collection.Embedding, true)
	if err != nil {
		return nil, err
	}
	if e.id == "" {
		if e.id, err = space.NewItem(); err != nil {
			return nil, err
		}
	}
	expires, err := put(ctx, space, e.id, e.ttl, entry{text: e.text, vector: make([]byte, 4*vectors.Dim), space: vectors.ID(), state: pending})
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Success bool    `json:"success"`
		ID      string  `json:"id"`
		Expires *string `json:"expires_at"`
	}{true, e.id, kind.FormatTime(expires)})
}

// put stores an entry. put replaces a previous entry with the same id.
func put(ctx context.Context, space kind.Namespace, id string, ttl time.Duration, e entry) (time.Time, error) {
	content := e.encode()
	return space.Apply(ctx, id, ttl, func(*storage.Record, bool) ([]byte, []abi.Violation, error) { return content, nil, nil })
}

// newEntry checks the arguments of "remember".
func (st *store) newEntry(content, text json.RawMessage) (newEntry, error) {
	var e newEntry
	if kind.IsAbsent(content) {
		return e, abi.Faultf(abi.InvalidArgument, "the content of an entry is missing or null").
			WithHint("pass a text or a JSON value; use `forget` to remove an entry")
	}
	value, err := canonical(content, st.limits)
	if err != nil {
		return e, err
	}
	if strings.TrimSpace(searchText(value)) == "" {
		return e, abi.Faultf(abi.InvalidArgument, "the content of an entry is an empty text")
	}
	o, err := readOptions(text, "options argument", "metadata", "namespace", "ttl", "id")
	if err != nil {
		return e, err
	}
	if err := o.readAll(map[string]kind.Option{
		"namespace": nameOption(&e.namespace, true), "id": nameOption(&e.id, false), "ttl": kind.TTLOption(&e.ttl),
	}, "namespace", "id", "ttl"); err != nil {
		return e, err
	}
	s := stored{Content: value}
	if metadata, ok := o["metadata"]; ok {
		if s.Metadata, err = checkMetadata(metadata); err != nil {
			return e, err
		}
	}
	e.text, err = st.limits.Encode(s)
	return e, err
}

// checkMetadata returns the canonical JSON of the metadata of an entry.
func checkMetadata(metadata json.RawMessage) (json.RawMessage, error) {
	if !strictjson.IsObject(metadata) {
		return nil, abi.Faultf(abi.InvalidArgument, "the option \"metadata\" must be an object").
			WithHint("pass an object such as {metadata: {category: \"complaint\"}}")
	}
	if len(metadata) > MaxMetadataBytes {
		return nil, abi.Faultf(abi.TooLarge, "the metadata has %d bytes of JSON; the limit is %d", len(metadata), MaxMetadataBytes)
	}
	return canonical(metadata, optionLimits)
}
