package memory

import (
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// key returns the key of the caller's record in the store. The argument "group" is the group of the
// app. The method returns a fault in two cases: The store is per-user and the caller has no user,
// or the store is per-session and the caller has no session. The argument "who" is the name of the
// caller in faults.
func (st *store) key(group storage.Key, c partition.Caller, who string) (storage.Key, error) {
	noun := "store "
	if st.Kind == declare.KindBlock {
		noun = "block "
	}
	return st.scopedKey(group, st.Access, c, noun+strconv.Quote(st.Name), who)
}

// scopedKey is like key, but the scope of the record is an argument. The argument "what" is the
// name of the record in faults.
func (st *store) scopedKey(group storage.Key, scope declare.Scope, c partition.Caller, what, who string) (storage.Key, error) {
	key := prefixOf(group, st.Name)
	switch scope {
	case declare.ScopeUser:
		if c.User == "" {
			return "", abi.Faultf(abi.NoUser, "%s is per-user, but %s has no user", what, who).
				WithHint("run the tool for a user")
		}
		key = key.With(storage.Part{Tag: storage.User, Value: c.User})
	case declare.ScopeSession:
		if c.Session == "" {
			return "", noSession(what, who)
		}
		key = key.With(storage.Part{Tag: storage.Session, Value: c.Session})
	case declare.ScopeWorkflow:
		if c.Workflow == "" && c.Session == "" {
			return "", noWorkflow(what, who)
		}
		key = key.With(treeOf(c))
	case declare.ScopeApplication:
		if st.Access == declare.ScopeByItem { // otherwise, the prefix also matches users' keys
			key = key.With(storage.Part{Tag: storage.Shared, Value: "app"})
		}
	}
	return key, nil
}

// treeOf returns the key part that identifies the execution tree of the caller. If the caller has a
// workflow, the execution tree is this workflow. Without a workflow, the execution tree is the
// session.
func treeOf(c partition.Caller) storage.Part {
	if c.Workflow != "" {
		return storage.Part{Tag: storage.Workflow, Value: c.Workflow}
	}
	return storage.Part{Tag: storage.Session, Value: c.Session}
}

func noSession(what, who string) error {
	return abi.Faultf(abi.NoSession, "%s is per-session, but %s has no session", what, who).
		WithHint("run the tool in a session")
}

func noWorkflow(what, who string) error {
	return abi.Faultf(abi.NoWorkflow, "%s is per-workflow, but %s has no workflow and no session", what, who).
		WithHint("run the tool in a workflow or in a session")
}
