package document

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/host/memory/kind"
)

// options contains the options of a call. The options are the last argument.
type options struct {
	record     bool
	replace    bool
	ifRevision *int64
	ttl        time.Duration
}

// parseOptions decodes the options of a call. If the call contains an option that is not in the
// list "allowed", parseOptions returns a fault.
func parseOptions(text json.RawMessage, allowed ...string) (options, error) {
	var o options
	if kind.IsAbsent(text) {
		return o, nil
	}
	readers := map[string]kind.Option{
		"record": kind.BoolOption(&o.record), "replace": kind.BoolOption(&o.replace),
		"if_revision": kind.RevisionOption(&o.ifRevision), "ttl": kind.TTLOption(&o.ttl),
	}
	known := make(map[string]kind.Option, len(allowed))
	for _, name := range allowed {
		known[name] = readers[name]
	}
	err := kind.ReadOptions(text, known)
	return o, err
}
