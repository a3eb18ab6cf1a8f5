package fact

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// record is the JSON form of a fact in a reply.
type record struct {
	Path     string          `json:"path"`
	Value    json.RawMessage `json:"value"`
	Revision int64           `json:"revision"`
	Updated  *string         `json:"updated_at"`
	Expires  *string         `json:"expires_at"`
}

// recordOf returns the JSON form of a fact. If no record of the fact is stored, the argument is the
// zero Record.
func recordOf(path string, value json.RawMessage, r storage.Record) record {
	return record{path, value, r.Revision, kind.FormatTime(r.Updated), kind.FormatTime(r.Expires)}
}

// get performs get_fact. If no record is stored, the value of the fact is its default.
func (st *store) get(ctx context.Context, p kind.Partition, path string, options json.RawMessage) (json.RawMessage, error) {
	whole := false
	if !kind.IsAbsent(options) {
		if err := kind.ReadOptions(options, map[string]kind.Option{"record": kind.BoolOption(&whole)}); err != nil {
			return nil, err
		}
	}
	r, err := p.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	declared, value := st.facts[path], json.RawMessage(r.Content)
	if !r.Exists() {
		value = declared.Default
	}
	if value == nil {
		value = json.RawMessage("null")
	}
	if !whole {
		return value, nil
	}
	reply := struct {
		record
		Type    *declare.FactType `json:"type"`
		Default bool              `json:"default"`
	}{record: recordOf(path, value, r), Default: !r.Exists()}
	if declared.Type != "" {
		reply.Type = &declared.Type
	}
	return json.Marshal(reply)
}

// set performs set_fact. A write to a fact is blind if the fact is not in the read set. A blind
// write does not add the fact to the read set.
func (st *store) set(ctx context.Context, p kind.Partition, path string, value, options json.RawMessage) (json.RawMessage, error) {
	declared := st.facts[path]
	required, ttl, err := readWriteOptions(options, declared.TTL)
	if err != nil {
		return nil, err
	}
	if kind.IsAbsent(value) {
		return nil, abi.Faultf(abi.InvalidArgument, "the value of a fact is missing or null").
			WithHint("use `delete_fact` to remove the value")
	}
	if err := st.limits.Check(value); err != nil {
		return nil, err
	}
	violations, err := checkType(declared, value)
	if err != nil {
		return nil, err
	}
	if err := kind.CheckRevision(ctx, p, path, required); err != nil {
		return nil, err
	}
	content := bytes.Clone(bytes.TrimSpace(value)) // a copy, because the engine owns the value
	expires, err := p.Apply(ctx, path, ttl, func(*storage.Record, bool) ([]byte, []abi.Violation, error) {
		return content, violations, nil
	})
	if err != nil {
		return nil, err
	}
	return kind.WriteReply(ctx, p, path, expires)
}

// readWriteOptions reads two options of set_fact: the required revision and the lifetime. If the
// call accepts any revision, the required revision is nil. If the call specifies no lifetime, the
// result is the declared lifetime.
func readWriteOptions(options json.RawMessage, declared time.Duration) (required *int64, ttl time.Duration, err error) {
	if kind.IsAbsent(options) {
		return nil, declared, nil
	}
	ttl = declared
	err = kind.ReadOptions(options, map[string]kind.Option{"if_revision": kind.RevisionOption(&required), "ttl": kind.TTLOption(&ttl)})
	return required, ttl, err
}

// checkType checks that a value has the declared type. If the types differ, checkType returns a
// violation. If the declaration is strict, checkType instead returns a fault.
func checkType(f declare.Fact, value json.RawMessage) ([]abi.Violation, error) {
	if f.Type.Accepts(value) {
		return nil, nil
	}
	limit, _ := json.Marshal(f.Type) // the encoding of a string never fails
	violations := []abi.Violation{{Keyword: "type", Limit: limit}}
	if !f.Strict {
		return violations, nil
	}
	fault := abi.Faultf(abi.SchemaViolation, "the value of the fact %s must be of the type %s", f.Path, f.Type)
	fault.Violations = violations
	return nil, fault
}

// remove performs delete_fact.
func remove(ctx context.Context, p kind.Partition, path string, options json.RawMessage) (json.RawMessage, error) {
	var required *int64
	if err := kind.ReadOptions(options, map[string]kind.Option{"if_revision": kind.RevisionOption(&required)}); err != nil {
		return nil, err
	}
	return kind.Remove(ctx, p, path, required)
}

// Limits of list_facts.
const (
	defaultPage = 100
	maxPage     = 1000
	// pageBytes limits the memory for a page. A page ends when the total size of its contents
	// reaches pageBytes.
	pageBytes = 1 << 20
)

// listing contains the arguments of list_facts.
type listing struct {
	prefix, domain, after string
	limit                 int
}

// readListing reads the arguments of list_facts.
func readListing(call abi.Call) (listing, error) {
	l := listing{limit: defaultPage}
	for i, arg := range []struct {
		name string
		read kind.Option
	}{
		{"prefix", kind.TextOption(&l.prefix)}, {"domain", kind.TextOption(&l.domain)},
		{"limit", kind.CountOption(&l.limit, maxPage)}, {"after", kind.TextOption(&l.after)},
	} {
		if kind.IsAbsent(call.Arg(i)) {
			continue
		}
		value, err := kind.Decode(call.Arg(i))
		if err != nil {
			return l, abi.Faultf(abi.InvalidArgument, "the argument %s is not valid JSON", arg.name)
		}
		if want := arg.read(value); want != "" {
			return l, abi.Faultf(abi.InvalidArgument, "the argument %s must be %s", arg.name, want)
		}
	}
	return l, nil
}

// list performs list_facts.
func (st *store) list(ctx context.Context, p kind.Partition, call abi.Call) (json.RawMessage, error) {
	l, err := readListing(call)
	if err != nil {
		return nil, err
	}
	reply := struct {
		Facts []record `json:"facts"`
		Next  *string  `json:"next"`
	}{Facts: []record{}}
	bytes := 0
	err = p.(kind.ScopedPartition).Each(ctx, l.prefix, l.after, func(r storage.Record) bool {
		path := kind.Item(r)
		if l.domain != "" && st.domain(path) != l.domain {
			return true
		}
		if len(reply.Facts) == l.limit || bytes > pageBytes {
			reply.Next = &reply.Facts[len(reply.Facts)-1].Path
			return false
		}
		bytes += len(r.Content)
		reply.Facts = append(reply.Facts, recordOf(path, r.Content, r))
		return true
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply)
}
