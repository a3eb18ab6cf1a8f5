package declare

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// Grant is a permission. It permits some verbs on a store.
type Grant struct {
	// Store is the name of a store, or a prefix that is followed by a *, such as kb-*. A prefix
	// stands for all stores whose names begin with it.
	Store string
	// Item limits the grant to one item of the store, or to the items that match a pattern such as
	// user.travel.*. If Item is "", the grant covers the whole store. A grant can have an Item only
	// if the access of the store is ScopeByItem.
	Item  string
	Verbs []abi.Verb
}

// GrantOn returns the grant that has the given name in files and flags. The name is the name of a
// store, the word facts, the path of a fact, a pattern of paths such as user.travel.*, or a pattern
// of stores such as kb-*.
func GrantOn(name string, verbs ...abi.Verb) Grant {
	if strings.Contains(name, ".") {
		return Grant{Store: Facts, Item: name, Verbs: verbs}
	}
	return Grant{Store: name, Verbs: verbs}
}

// Name returns the name that the grant has in files and flags.
func (g Grant) Name() string {
	if g.Item != "" {
		return g.Item
	}
	return g.Store
}

// CheckItem returns an error if the item of a grant is invalid. The item must be the path of a fact
// or a pattern.
func (g Grant) CheckItem() error {
	path, pattern := strings.CutSuffix(g.Item, ".*")
	if g.Item == "" || pattern && !strings.Contains(path, ".") && CheckFactPath(path+".x") == nil {
		return nil
	}
	return CheckFactPath(path)
}

// IsPattern reports whether the grant contains a prefix of store names, not the name of a store.
func (g Grant) IsPattern() bool { return strings.HasSuffix(g.Store, "*") }

// CheckPattern returns an error if the grant has a pattern that no valid store name can match.
func (g Grant) CheckPattern() error {
	if prefix, pattern := strings.CutSuffix(g.Store, "*"); pattern && !nameRule().MatchString(prefix) {
		return fmt.Errorf("the text %q is not a pattern of store names: use the beginning of a name followed by one '*', such as kb-*", g.Store)
	}
	return nil
}

// CoversStore reports whether the grant applies to a store. A pattern does not match a reserved
// name. For example, the names of built-in stores are reserved.
func (g Grant) CoversStore(name string) bool {
	if g.Store == name {
		return true
	}
	prefix, pattern := strings.CutSuffix(g.Store, "*")
	return pattern && strings.HasPrefix(name, prefix) && CheckName(name) == nil
}

// Covers reports whether the grant applies to an item of its store.
func (g Grant) Covers(item string) bool {
	prefix, pattern := strings.CutSuffix(g.Item, "*")
	return g.Item == "" || pattern && strings.HasPrefix(item, prefix) || item == g.Item
}

// Allows reports whether the grant contains the verb.
func (g Grant) Allows(verb abi.Verb) bool {
	for _, v := range g.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// ParseVerbs parses the verbs of a grant. In app files and flags, they are a comma-separated list
// of read, write, delete and readwrite. The word readwrite means all three verbs.
func ParseVerbs(text string) ([]abi.Verb, error) {
	var verbs []abi.Verb
	for word := range strings.SplitSeq(text, ",") {
		switch v := abi.Verb(strings.TrimSpace(word)); v {
		case abi.Read, abi.Write, abi.Delete:
			verbs = append(verbs, v)
		case "readwrite":
			verbs = append(verbs, abi.Read, abi.Write, abi.Delete)
		default:
			return nil, fmt.Errorf("the text %q is not a grant verb; use \"read\", \"write\", \"delete\" or \"readwrite\"", word)
		}
	}
	return verbs, nil
}
