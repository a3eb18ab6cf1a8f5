package problem

// A Code identifies the kind of a Problem. Programs can compare Codes. New versions can add Codes,
// but never change or remove a Code.
type Code string

// The following codes are used for files of every kind.
const (
	Syntax        Code = "syntax"         // the file contains text that cannot be parsed
	UnknownKey    Code = "unknown_key"    // a key is unknown at its position
	MissingKey    Code = "missing_key"    // a required key is missing
	DuplicateName Code = "duplicate_name" // two names are equal or differ only by case
	UnknownName   Code = "unknown_name"   // a name refers to a thing that is not declared
	BadName       Code = "bad_name"       // an invalid name
	BadValue      Code = "bad_value"      // a value has the right type but is not allowed
	OverLimit     Code = "over_limit"     // a limit is exceeded
	NoEffect      Code = "no_effect"      // a declaration or a setting has no effect
	BadTemplate   Code = "bad_template"   // a template cannot be parsed
)

// The following codes describe errors in app files.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty, too large or not UTF-8 text
	DuplicateKey  Code = "duplicate_key"  // the same mapping contains a key twice
	WrongType     Code = "wrong_type"     // a value has the wrong type, such as a list
	UnknownStore  Code = "unknown_store"  // a grant names an undeclared store
	MissingFile   Code = "missing_file"   // a referenced file cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link leads to a file outside of the folder
	BadSource     Code = "bad_source"     // no engine can run the source
	BadSchema     Code = "bad_schema"     // a JSON Schema is invalid or too expensive
)

// The following codes describe warnings about app files.
const (
	PoorName      Code = "poor_name"      // the name of a store does not describe its content
	NoDescription Code = "no_description" // a tool has no description that models can read
	ShortLived    Code = "short_lived"    // shared records end with their last writer's session
	NotGranted    Code = "not_granted"    // no tool and no prompt has a grant on a store
	SchemaMistake Code = "schema_mistake" // a JSON Schema probably contains a mistake
	Contradiction Code = "contradiction"  // two settings contradict each other
	MissingGrant  Code = "missing_grant"  // a memory call lacks a grant of the tool
	UnknownModel  Code = "unknown_model"  // the operator has not configured a model
	CodeMistake   Code = "code_mistake"   // code always fails, or code has no effect
)

// The following codes are used for agent files.
const (
	Indentation    Code = "indentation"     // a line has tabs or a wrong indentation
	Access         Code = "access"          // the ACCESS of a fact forbids a call
	Scope          Code = "scope"           // the same path has two scopes
	Loop           Code = "loop"            // a cycle of steps or handoffs never ends
	Style          Code = "style"           // a discouraged form
	SuspiciousRule Code = "suspicious_rule" // a rule probably has a wrong effect
)

// The following codes are used for machines.
const (
	Permission  Code = "permission"  // a step requires a permission that it does not have
	Placeholder Code = "placeholder" // the file still contains a placeholder, such as "<name>"
)
