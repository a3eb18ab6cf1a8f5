package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Facts is the name of the built-in store that contains facts.
const Facts = "facts"

// KindFact is the kind of the store that contains facts.
const KindFact Kind = "fact"

// FactStore returns the declaration of the store that contains facts.
func FactStore(facts []Fact) Store {
	return Store{Name: Facts, Kind: KindFact, Access: ScopeByItem, Facts: facts}
}

// Fact is the declaration of a fact. A fact has a dotted path, such as user.language, and a value.
type Fact struct {
	// Path is the path of the fact; see CheckFactPath.
	Path string
	// Scope determines the owner of the value. Default: FactScope of the path.
	Scope Scope
	// Type is the type of the value. Default: any.
	Type FactType
	// If Strict is true, a value of another type is rejected. If Strict is false, a value of
	// another type is stored with a warning.
	Strict bool
	// Default is the value that a read returns if no value is stored. Nil means null.
	Default json.RawMessage
	// TTL is the time after which a value expires. The time begins when the value is written. If
	// TTL is zero, the value does not expire.
	TTL time.Duration
	// Domain is the name of a group of facts. The fact belongs to this group. Default: FactDomain
	// of the path.
	Domain string
	// Unit and Description are for display.
	Unit        string
	Description string
}

// FactType is the type that the value of a fact has.
type FactType string

// The types of facts. A date is a string. It contains a day, such as 2026-04-30, or a time in the
// format of RFC 3339.
const (
	FactString  FactType = "string"
	FactNumber  FactType = "number"
	FactBoolean FactType = "boolean"
	FactDate    FactType = "date"
	FactArray   FactType = "array"
	FactObject  FactType = "object"
)

// FactTypes returns all types of facts.
func FactTypes() []FactType {
	return []FactType{FactString, FactNumber, FactBoolean, FactDate, FactArray, FactObject}
}

// Accepts reports whether a JSON value has the given FactType. If the FactType is the zero value,
// Accepts returns true for any value. If the value is an array or an object, Accepts does not
// decode it.
func (t FactType) Accepts(value json.RawMessage) bool {
	text := bytes.TrimSpace(value)
	if t == "" || len(text) == 0 {
		return t == ""
	}
	switch first := text[0]; t {
	case FactString:
		return first == '"'
	case FactNumber:
		return first == '-' || first >= '0' && first <= '9'
	case FactBoolean:
		return first == 't' || first == 'f'
	case FactArray:
		return first == '['
	case FactObject:
		return first == '{'
	}
	return isDate(text)
}

// maxDateText is the maximum size of the JSON text of a date. The size is checked before the date
// is decoded.
const maxDateText = 100

// isDate reports whether a value is a day or a time. A time can have a time zone.
func isDate(value json.RawMessage) bool {
	var text string
	if len(value) > maxDateText || json.Unmarshal(value, &text) != nil {
		return false
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// MaxFactPath is the maximum size of a path in bytes.
const MaxFactPath = 512

var factPathRule = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

// CheckFactPath returns an error if the argument "path" is not a valid path. A path consists of at
// least two names, separated by dots.
func CheckFactPath(path string) error {
	if len(path) > MaxFactPath {
		return fmt.Errorf("the path of a fact has %d bytes; the limit is %d", len(path), MaxFactPath)
	}
	if !factPathRule().MatchString(path) {
		return fmt.Errorf("the text %q is not a path of a fact: use at least two names of letters, digits, '_' or '-', separated by dots, such as user.language", path)
	}
	return nil
}

// FactScope returns the scope that a fact has by default. If the first name of the path is project,
// this scope is the app. If the first name is workflow or execution_tree, it is the workflow. For
// any other name, it is the user.
func FactScope(path string) Scope {
	switch first, _, _ := strings.Cut(path, "."); first {
	case "project":
		return ScopeApplication
	case "workflow", "execution_tree":
		return ScopeWorkflow
	}
	return ScopeUser
}

// FactDomain returns the domain that a fact has by default. It is the second name of the fact's
// path.
func FactDomain(path string) string {
	_, rest, _ := strings.Cut(path, ".")
	domain, _, _ := strings.Cut(rest, ".")
	return domain
}
