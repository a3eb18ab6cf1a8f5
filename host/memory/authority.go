package memory

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// Authority is a set of rights on the stores of an app: what the holder of a View may do there. The zero value has no
// rights, so that every store is not_found. An Authority does not change and is safe for concurrent use.
type Authority struct {
	// unrestricted is true if all verbs are allowed on all stores.
	unrestricted bool
	// readOnly is true if only reads are allowed, whatever else the Authority holds.
	readOnly bool
	// grants are the rights of an Authority that is not unrestricted.
	grants []declare.Grant
}

// Operator returns the Authority that allows everything on every store. The host uses it for itself and for operators;
// a guest must never act under it.
func Operator() Authority { return Authority{unrestricted: true} }

// Granted returns the Authority that allows what the grants allow, and nothing if there are none. Of two grants of one
// store the first counts. The grants are copied.
func Granted(grants []declare.Grant) Authority {
	own := make([]declare.Grant, len(grants))
	for i, g := range grants {
		own[i] = declare.Grant{Store: g.Store, Verbs: slices.Clone(g.Verbs)}
	}
	return Authority{grants: own}
}

// ReadOnly returns the Authority that allows the reads of a, and nothing else.
func ReadOnly(a Authority) Authority {
	a.readOnly = true
	return a
}

// Unrestricted reports whether the Authority covers all stores, as that of an operator does.
func (a Authority) Unrestricted() bool { return a.unrestricted }

// grant returns what the Authority holds on a store. A store that is not granted does not exist for the holder.
func (a Authority) grant(store string) (g declare.Grant, granted bool) {
	if a.unrestricted {
		return declare.Grant{Store: store}, true
	}
	for _, g := range a.grants {
		if g.Store == store {
			return g, true
		}
	}
	return declare.Grant{}, false
}

// check returns a fault if the Authority does not allow a verb on a store that it grants.
func (a Authority) check(g declare.Grant, verb abi.Verb) error {
	switch {
	case a.readOnly && verb != abi.Read:
		return abi.Faultf(abi.AccessDenied, "the store %q can only be read here", g.Store)
	case a.unrestricted || g.Allows(verb):
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "this tool may not %s the store %q", verb, g.Store).
		WithHint("add the verb %s to the tool's grants", verb)
}

// holder describes in messages who acts under the Authority.
func (a Authority) holder() string {
	if a.unrestricted {
		return "the caller"
	}
	return "this run"
}

// stores returns the names of the stores that are granted.
func (a Authority) stores() []string {
	names := make([]string, len(a.grants))
	for i, g := range a.grants {
		names[i] = g.Store
	}
	return names
}
