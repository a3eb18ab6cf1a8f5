package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var (
	storeKeys = []string{"name", "description", "kind", "access", "retention", "strict", "schema", "expose"}
	// collectionKeys contains the keys that only a collection can have.
	collectionKeys = []string{"embedding", "erase", "language"}
	allStoreKeys   = slices.Concat(storeKeys, collectionKeys)
)

// storeReader reads the section "memory" of the app file.
type storeReader struct {
	fieldReader
	schemas *schemaReader
	max     int            // the maximum number of stores that an app can declare
	kinds   []declare.Kind // the supported kinds
}

// stores returns the declared stores. stores also returns their positions, with the names of the
// stores as keys.
func (r *storeReader) stores(n *node) (stores []declare.Store, positions map[string]position) {
	positions = map[string]position{}
	entries := r.entries(n, "memory", "store", nil)
	if len(entries) > r.max {
		r.errorf(entries[r.max].position, problem.OverLimit, "merge stores with related content", "an app is limited to %d stores, but this app has %d", r.max, len(entries))
	}
	for _, m := range entries {
		positions[m.key] = m.position
		stores = append(stores, r.store(m))
	}
	return stores, positions
}

func (r *storeReader) store(m member) declare.Store {
	s := declare.Store{Name: m.key, Kind: declare.KindDocument}
	if strings.EqualFold(m.key, declare.Facts) {
		r.errorf(m.position, problem.BadName, "declare facts in the section `facts` of the app file", "the name %q is reserved for facts", m.key)
	} else if declare.IsBuiltInBlock(strings.ToLower(m.key)) {
		r.errorf(m.position, problem.BadName, "add `blocks: true` to the app file, and do not declare the block", "the name %q is reserved for blocks", m.key)
	} else if err := declare.CheckName(m.key); err != nil {
		r.errorf(m.position, problem.BadName, storeNameHint(m.key), "%s", err)
	}
	n := m.value
	if !r.named(m, "a store", allStoreKeys) {
		return s
	}
	s.Title = r.text(n.get("name"), "name")
	s.Description = r.text(n.get("description"), "description")
	if kind := n.get("kind"); kind != nil {
		s.Kind = r.kind(kind)
	}
	if access := n.get("access"); access != nil {
		s.Access = r.access(access)
	} else if lacks(n, "access", allStoreKeys) {
		r.errorf(m.position, problem.MissingKey, "add `access: user`, `access: session` or `access: application`", "the store %s does not declare its access", problem.Quote(m.key))
	}
	s.Retention = r.retention(n.get("retention"), s.Access)
	strict := r.flag(n.get("strict"), "strict")
	s.Strict = strict != nil && *strict
	s.Schema = r.schemas.compiled(r.schemas.schema(n.get("schema"), "schema"), s.Strict)
	r.collection(m, &s)
	r.expose(m, &s)
	r.lintStore(m, s)
	return s
}

var notInName = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// storeNameHint returns a hint for an invalid name of a store. The hint contains a similar, valid
// name. If no similar name exists, the result is "". If the name is declare.SessionMeta, the hint
// explains how to use this built-in store.
func storeNameHint(name string) string {
	if strings.EqualFold(name, declare.SessionMeta) {
		return "use the built-in store with a read grant, without a declaration"
	}
	near := strings.Trim(notInName().ReplaceAllString(name, "_"), "_-0123456789")
	if declare.CheckName(near) != nil {
		return ""
	}
	return fmt.Sprintf("use %s, and set the display name with name:", near)
}

func (r *storeReader) kind(n *node) declare.Kind {
	word := r.text(n, "kind")
	known := make([]string, len(r.kinds))
	for i, k := range r.kinds {
		if known[i] = string(k); known[i] == word {
			return k
		}
	}
	switch word {
	case "":
	case "block":
		r.errorf(n.position, problem.BadValue, "declare the block in the section `blocks` of the app file", "a store in the section `memory` cannot be of kind block")
	case "facts":
		r.errorf(n.position, problem.BadValue, "declare facts in the section `facts` of the app file", "a store in the section `memory` cannot be of kind facts")
	default:
		r.errorf(n.position, problem.BadValue, didYouMean(word, known), "the value %s is not a kind of store", problem.Quote(word))
	}
	return declare.KindDocument
}

// The key "expose" can have these values.
const (
	exposedResource = "resource" // of a document
	exposedRecall   = "recall"   // of a collection
)

// expose reads the key "expose" of a store.
func (r *storeReader) expose(m member, s *declare.Store) {
	n := m.value.get("expose")
	if n == nil {
		return
	}
	want := exposedResource
	if s.Kind == declare.KindCollection {
		want = exposedRecall
	}
	switch hint := "write `expose: " + want + "`, or omit the key `expose`"; {
	case n.kind != text:
		r.errorf(n.position, problem.WrongType, hint, "the value of `expose` must be %s, not %s", want, n.kind)
	case s.Kind != declare.KindDocument && s.Kind != declare.KindCollection:
		r.errorf(n.position, problem.BadValue, "remove expose", "only documents and collections can be exposed; the store %s is of kind %s", problem.Quote(m.key), s.Kind)
	case n.value != want:
		r.errorf(n.position, problem.BadValue, hint, "the value %s is not valid for the key `expose` of a %s", problem.Quote(n.value), s.Kind)
	case want == exposedResource:
		s.Resource = true
	case s.Access == declare.ScopeApplication:
		r.errorf(n.position, problem.BadValue, "remove expose", "users cannot search the collection %s, whose entries belong to the app", problem.Quote(m.key))
	default:
		s.Collection.Exposed = true
	}
}

func (r *storeReader) access(n *node) declare.Scope {
	known := []string{string(declare.ScopeUser), string(declare.ScopeSession), string(declare.ScopeApplication)}
	word := r.text(n, "access")
	for _, k := range known {
		if word == k {
			return declare.Scope(k)
		}
	}
	if n.kind == text {
		hint := didYouMean(word, known)
		if strings.EqualFold(word, "app") {
			hint = `did you mean "application"?`
		}
		r.errorf(n.position, problem.BadValue, hint, "the value %s is not valid for the key `access`", problem.Quote(word))
	}
	return ""
}

// retention reads the retention of a store. If no retention exists, the records of a per-session
// store expire with the session, and the records of other stores do not expire.
func (r *storeReader) retention(n *node, access declare.Scope) declare.Retention {
	if n == nil {
		return declare.Retention{Session: access == declare.ScopeSession}
	}
	if n.kind != text && n.kind != number {
		r.errorf(n.position, problem.WrongType, "write `session`, `1_day`, `1_week`, `1_month`, or a number and a unit such as `90d`", "retention must be a string, not %s", n.kind)
		return declare.Retention{}
	}
	retention, err := declare.ParseRetention(n.value)
	if err != nil {
		r.errorf(n.position, problem.BadValue, retentionHint(n.value), "the value %s is not a valid retention", problem.Quote(n.value))
	}
	return retention
}

var (
	countOfWeeks = lazyregexp.New(`^([1-9][0-9]{0,3})w$`)
	countOfWords = lazyregexp.New(`^([1-9][0-9]{0,3})[ _]?(day|week|month|year)s?$`)
	bareCount    = lazyregexp.New(`^[1-9][0-9]{0,3}$`)
	zeroCount    = lazyregexp.New(`^0+[a-z]*$`)
)

// retentionHint returns a hint that shows how to write a retention.
func retentionHint(s string) string {
	const known = "write session, 1_day, 1_week, 1_month, or one count and one unit: 90d, 24h, 30m, 10s"
	low := strings.ToLower(strings.TrimSpace(s))
	days := map[string]int{"day": 1, "week": 7, "month": 30, "year": 365}
	if isRetention(low) {
		return "did you mean " + low + "?"
	}
	switch m := countOfWords().FindStringSubmatch(low); {
	case m != nil:
		if word := m[1] + "_" + m[2]; isRetention(word) {
			return "write " + word
		}
		count, _ := strconv.Atoi(m[1])
		return fmt.Sprintf("write %dd", count*days[m[2]])
	case countOfWeeks().MatchString(low):
		count, _ := strconv.Atoi(strings.TrimSuffix(low, "w"))
		return fmt.Sprintf("write weeks as days: %dd", 7*count)
	case bareCount().MatchString(low):
		return fmt.Sprintf("add a unit, such as %sd", low)
	case zeroCount().MatchString(low):
		return "use at least 1s; to keep no record, let the tool delete the record"
	case strings.HasPrefix(low, "-"):
		return "use a positive retention"
	case low == "forever", low == "never", low == "permanent", low == "none", low == "unlimited":
		return "omit retention to keep records until they are deleted"
	}
	if d, err := time.ParseDuration(low); err == nil && d >= time.Second && d%time.Second == 0 {
		return "write one count and one unit: " + formatDuration(d)
	}
	return known
}

func isRetention(s string) bool {
	_, err := declare.ParseRetention(s)
	return err == nil
}
