package memory

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// key returns the key of the caller's record in the store. group is the app's group. key returns a
// fault if the store is per-user or per-session and the caller has no user or session. who is the
// name of the caller in faults.
func (st *store) key(group storage.Key, c partition.Caller, who string) (storage.Key, error) {
	key := prefixOf(group, st.Name)
	switch st.Access {
	case declare.ScopeUser:
		if c.User == "" {
			return "", abi.Faultf(abi.NoUser, "store %q is per-user, but %s has no user", st.Name, who).
				WithHint("run the tool for a user")
		}
		key = key.With(storage.Part{Tag: storage.User, Value: c.User})
	case declare.ScopeSession:
		if c.Session == "" {
			return "", noSession(st, who)
		}
		key = key.With(storage.Part{Tag: storage.Session, Value: c.Session})
	}
	return key, nil
}

func noSession(st *store, who string) error {
	return abi.Faultf(abi.NoSession, "store %q is per-session, but %s has no session", st.Name, who).
		WithHint("run the tool in a session")
}
