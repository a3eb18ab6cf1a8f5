package memory

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

// Authority is a set of rights on the stores of an app. A View acts under an Authority. The zero
// value has no rights. With the zero value, each call on a store fails with the code not_found. An
// Authority is immutable and safe for concurrent use.
type Authority struct {
	// unrestricted is true if all verbs are allowed on all stores.
	unrestricted bool
	// readOnly is true if the Authority allows only reads, even if the grants allow more.
	readOnly bool
	// grants contains the rights of an Authority that is not unrestricted.
	grants []declare.Grant
}

// Operator returns the Authority that has all rights on every store. Only the host and operators
// may use this Authority. Tool code must never act under this Authority.
func Operator() Authority { return Authority{unrestricted: true} }

// Granted returns the Authority with the rights of some grants. If several grants have the same
// store and the same item, only the first such grant has an effect. Granted copies the grants.
func Granted(grants []declare.Grant) Authority {
	own := make([]declare.Grant, len(grants))
	for i, g := range grants {
		own[i] = declare.Grant{Store: g.Store, Item: g.Item, Verbs: slices.Clone(g.Verbs)}
	}
	return Authority{grants: own}
}

// ReadOnly returns an Authority that has the read rights of a and no other rights.
func ReadOnly(a Authority) Authority {
	a.readOnly = true
	return a
}

// Unrestricted reports whether the Authority covers all stores. The Authority of an operator covers
// all stores.
func (a Authority) Unrestricted() bool { return a.unrestricted }

// CanRead reports whether the Authority allows reads of a store.
func (a Authority) CanRead(store string) bool {
	g, granted := a.grant(store, abi.Read)
	return granted && a.check(g, abi.Read, "store") == nil
}

// grant returns the grant of a store. If no grant exists, the store does not exist for the holder
// of the Authority. If only items of the store are granted, the method prefers the first grant that
// contains the verb. A grant that contains the name of the store takes precedence over a grant with
// a pattern.
func (a Authority) grant(store string, verb abi.Verb) (found declare.Grant, granted bool) {
	if a.unrestricted {
		return declare.Grant{Store: store}, true
	}
	whole := false // true after a grant of the whole store was found; later grants of the whole store are ignored
	for _, g := range a.grants {
		if g.Store != store || g.Item == "" && whole {
			continue
		}
		if g.Allows(verb) {
			return g, true
		}
		whole = whole || g.Item == ""
		if !granted {
			found, granted = g, true
		}
	}
	if granted {
		return found, granted
	}
	return a.patternGrant(store)
}

// patternGrant returns a grant whose pattern covers a store. If several patterns cover the store,
// the longest pattern takes precedence.
func (a Authority) patternGrant(store string) (found declare.Grant, granted bool) {
	longest := 0
	for _, g := range a.grants {
		if g.IsPattern() && len(g.Store) > longest && g.CoversStore(store) {
			found, granted, longest = declare.Grant{Store: store, Verbs: g.Verbs}, true, len(g.Store)
		}
	}
	return found, granted
}

// checkItem returns a fault if no grant of a store allows a verb on an item. For the holder of the
// Authority, an item without a grant does not exist.
func (a Authority) checkItem(store, item string, verb abi.Verb) error {
	if a.unrestricted {
		return nil
	}
	granted := false
	for _, g := range a.grants {
		if g.Store == store && g.Covers(item) {
			if g.Allows(verb) {
				return nil
			}
			granted = true
		}
	}
	if granted {
		return abi.Faultf(abi.AccessDenied, "the tool has no %s grant on the fact %q", verb, item).
			WithHint("add the verb %s to the tool's grants", verb)
	}
	return abi.Faultf(abi.NotFound, "the fact %q does not exist or was not granted to this tool", item).
		WithHint("declare the fact in the app file, and grant the fact to the tool with `grants: {%s: %s}`", item, verb)
}

// check returns a fault if the Authority does not allow a verb on a granted store. The argument
// "noun" is the word that the fault uses for the store.
func (a Authority) check(g declare.Grant, verb abi.Verb, noun string) error {
	switch {
	case a.readOnly && verb != abi.Read:
		return abi.Faultf(abi.AccessDenied, "the %s %q is read-only for this caller", noun, g.Store)
	case a.unrestricted || g.Allows(verb):
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "the tool has no %s grant on the %s %q", verb, noun, g.Store).
		WithHint("add the verb %s to the tool's grants", verb)
}

// holder returns a name for the holder of the Authority. Messages contain this name.
func (a Authority) holder() string {
	if a.unrestricted {
		return "the caller"
	}
	return "this run"
}

// The method "stores" returns the names of the granted stores. It omits patterns.
func (a Authority) stores() []string {
	names := make([]string, 0, len(a.grants))
	for _, g := range a.grants {
		if !g.IsPattern() {
			names = append(names, g.Store)
		}
	}
	return names
}
