package declare

import "fmt"

// KindCollection is the kind of stores that contain entries, which are found by a search.
const KindCollection Kind = "collection"

// Lexical is the name of the embedder that compares words. Every host has it.
const Lexical = "lexical"

// EraseRule determines whether the erasure of a user removes the entries that the user's runs wrote
// in a collection of the app.
type EraseRule string

// The rules.
const (
	EraseAuthor EraseRule = "author" // the entries belong to the user whose run wrote them
	EraseNever  EraseRule = "never"  // the entries belong to the app
)

// Collection is the declaration of a collection.
type Collection struct {
	// Embedding is the name of the embedder. Default: Lexical.
	Embedding string
	// Erase is the rule for erasures. Erase applies only to entries with ScopeApplication, because
	// other entries are in the part of the store that belongs to the user. Default: EraseAuthor.
	Erase EraseRule
	// Language is the language of the entries, such as english. Language determines how a search
	// compares words.
	Language string
	// Exposed is true if MCP clients of a user can search the entries that belong to the user or to
	// the user's session. Exposed does not apply to collections with ScopeApplication.
	Exposed bool
	// Auto is true for a collection without a declaration, in an app that allows them. In such a
	// collection, a namespace with a name belongs to a user, and the namespace without a name
	// belongs to the app.
	Auto bool
}

// WithDefaults returns the collection with defaults instead of zero values.
func (c Collection) WithDefaults() Collection {
	if c.Embedding == "" {
		c.Embedding = Lexical
	}
	if c.Erase == "" {
		c.Erase = EraseAuthor
	}
	return c
}

// CheckCollection returns an error if the declaration of a collection is invalid. The argument
// "access" is the access of the collection's store.
func CheckCollection(c Collection, access Scope) error {
	switch {
	case c.Embedding != "" && !nameRule().MatchString(c.Embedding):
		return fmt.Errorf("invalid name of an embedding model %q: use a letter and up to 63 more letters, digits, _ or -", c.Embedding)
	case c.Erase != "" && c.Erase != EraseAuthor && c.Erase != EraseNever:
		return fmt.Errorf("the value %q of erase is unknown: use %s or %s", c.Erase, EraseAuthor, EraseNever)
	case c.Erase != "" && access != ScopeApplication:
		return fmt.Errorf("erase applies only to collections with the access %s", ScopeApplication)
	case c.Exposed && access == ScopeApplication:
		return fmt.Errorf("users cannot search a collection with the access %s", ScopeApplication)
	}
	return nil
}

// AutoCollection returns the declaration of a collection that an app uses without declaring it.
func AutoCollection(name string) Store {
	return Store{Name: name, Kind: KindCollection, Access: ScopeApplication, Collection: Collection{Auto: true}}
}
