package declare

import "fmt"

// KindCollection is the kind of stores that contain entries. Entries are found by a search.
const KindCollection Kind = "collection"

// Lexical is the name of the embedder that compares words. Every host has it.
const Lexical = "lexical"

// EraseRule determines which entries of a collection are removed when a user is erased. It applies
// to entries that runs of the user wrote in a collection of the app.
type EraseRule string

// The rules.
const (
	EraseAuthor EraseRule = "author" // an entry belongs to the user whose run wrote the entry
	EraseNever  EraseRule = "never"  // an entry belongs to the app
)

// Collection is the declaration of a collection.
type Collection struct {
	// Embedding is the name of the collection's embedder. Default: Lexical.
	Embedding string
	// Erase is the rule that applies when a user is erased. Erase applies only if the scope of the
	// entries is ScopeApplication. All other entries belong to a user or a session, and are always
	// removed with the user. Default: EraseAuthor.
	Erase EraseRule
	// Language is the language in which the entries are written, such as english. When a search
	// compares words, Language determines how it compares them.
	Language string
	// If Exposed is true, the MCP clients of a user can search the collection. They find entries
	// that belong to the user or to the user's session. If the scope of a collection is
	// ScopeApplication, Exposed has no effect.
	Exposed bool
	// Auto is true for a collection that is not declared, which only some apps allow. In such a
	// collection, a namespace that has a name belongs to a user. The namespace without a name
	// belongs to the app.
	Auto bool
}

// WithDefaults returns the collection after replacing zero values by defaults.
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
// "access" is the access of the store to which the collection belongs.
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

// AutoCollection returns the declaration of a collection that an app uses but has not declared.
func AutoCollection(name string) Store {
	return Store{Name: name, Kind: KindCollection, Access: ScopeApplication, Collection: Collection{Auto: true}}
}
