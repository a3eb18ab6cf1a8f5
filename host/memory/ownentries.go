package memory

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// entriesPrefix returns the common prefix of the keys of the entries that a caller can list. If own
// is true, the prefix covers only the entries that belong to the caller.
func entriesPrefix(s *Service, st *store, c partition.Caller, own bool) (storage.Key, error) {
	group := s.app.Group(c)
	if !own {
		return st.extent(group, c), nil
	}
	access := st.Access
	if st.Collection.Auto {
		access = declare.ScopeUser
	}
	if access == declare.ScopeApplication {
		return "", ofTheApp(st.Name)
	}
	return st.scopedKey(group, access, c, "collection "+kind.Quote(st.Name), "the caller")
}

// ofTheApp returns the fault for a collection whose entries belong to the app. The caller can read
// only the entries of its user.
func ofTheApp(name string) error {
	f := abi.Faultf(abi.AccessDenied, "the entries of the collection %s belong to the app, but the caller can read only entries of the user", kind.Quote(name))
	f.Store = name
	return f
}

// CheckOwn returns access_denied if the entries of a namespace belong to the app. The entries of
// other namespaces belong to a user or a session.
func CheckOwn(s *Service, name, namespace string) error {
	st := lookup(s, name)
	if st == nil || st.Kind != declare.KindCollection {
		return noCollection(name)
	}
	if st.Access == declare.ScopeApplication && !(st.Collection.Auto && namespace != "") {
		return ofTheApp(name)
	}
	return nil
}

// CheckCollection returns not_found if a name cannot be the name of a collection.
func CheckCollection(s *Service, name string) error {
	if st := lookup(s, name); st == nil || st.Kind != declare.KindCollection {
		return noCollection(name)
	}
	return nil
}

// noCollection returns the fault for a collection that does not exist.
func noCollection(name string) error {
	f := abi.Faultf(abi.NotFound, "the collection %s does not exist", kind.Quote(name))
	f.Store = name
	return f.WithHint("declare the collection in the app file, such as `memory: {NAME: {kind: collection, access: application}}`")
}

// GetEntry returns an entry of a collection's namespace. If the entry does not exist, GetEntry
// returns nil. GetEntry adds the entry to the read set of the attempt.
func GetEntry(ctx context.Context, v *View, name, namespace, id string) (*Entry, error) {
	st, space, err := openNamespace(v, name, namespace)
	if err != nil {
		return nil, err
	}
	r, err := space.Get(ctx, id)
	if err != nil {
		return nil, v.classify(ctx, err, abi.Recall, name)
	}
	if !r.Exists() || id == "" {
		return nil, nil
	}
	e, err := entryOf(st, r)
	if err != nil {
		return nil, v.classify(ctx, err, abi.Recall, name)
	}
	return &e, nil
}

// openNamespace returns a collection and one of its namespaces.
func openNamespace(v *View, name, namespace string) (*store, kind.Namespace, error) {
	if v.closed != nil {
		return nil, nil, v.closed
	}
	st := lookup(v.s, name)
	if st == nil || st.Kind != declare.KindCollection || !v.authority.CanRead(name) {
		return nil, nil, noCollection(name)
	}
	key, err := st.key(v.s.app.Group(v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, nil, withCall(err, abi.Recall, name)
	}
	space, err := v.partition(st, st.Access, key).Namespace(namespace)
	if err != nil {
		return nil, nil, withCall(err, abi.Recall, name)
	}
	return st, space, nil
}

// ScanEntries returns entries of a namespace in the order of their ids. ScanEntries returns the
// first n entries whose ids follow the given id. Shorter ids come before longer ids. Ids of the
// same length are sorted by their text. ScanEntries adds the examined range of keys to the read set
// of the attempt.
func ScanEntries(ctx context.Context, v *View, name, namespace, after string, n int) ([]Entry, error) {
	st, space, err := openNamespace(v, name, namespace)
	if err != nil {
		return nil, err
	}
	records, err := space.Scan(ctx, after, n)
	if err != nil {
		return nil, v.classify(ctx, err, abi.Recall, name)
	}
	found := make([]Entry, len(records))
	for i, r := range records {
		if found[i], err = entryOf(st, r); err != nil {
			return nil, v.classify(ctx, err, abi.Recall, name)
		}
	}
	return found, nil
}
