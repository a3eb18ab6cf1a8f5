package problem

// Code identifies the kind of a Problem for programs. Codes can be added, but are never changed or
// removed.
type Code string

// The following codes concern files of every kind.
const (
	Syntax        Code = "syntax"         // the file contains text that cannot be parsed
	UnknownKey    Code = "unknown_key"    // a key is not known at its position
	MissingKey    Code = "missing_key"    // a required key is missing
	DuplicateName Code = "duplicate_name" // two declarations have names that are equal or differ only by case
	UnknownName   Code = "unknown_name"   // a name refers to something that is not declared
	BadName       Code = "bad_name"       // an invalid name
	BadValue      Code = "bad_value"      // a value has the right type, but is not allowed
	OverLimit     Code = "over_limit"     // a limit is exceeded
	NoEffect      Code = "no_effect"      // a declaration or a setting has no effect
	BadTemplate   Code = "bad_template"   // a template cannot be parsed
)

// The following codes are codes of errors in app files.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty or too large, or is not UTF-8 text
	DuplicateKey  Code = "duplicate_key"  // a key occurs twice in one mapping
	WrongType     Code = "wrong_type"     // a value has the wrong type, such as a list instead of a string
	UnknownStore  Code = "unknown_store"  // a grant names a store that is not declared
	MissingFile   Code = "missing_file"   // a referenced file does not exist or cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link leads out of the folder
	BadSource     Code = "bad_source"     // no engine can run the source
	BadSchema     Code = "bad_schema"     // a JSON Schema is invalid or too expensive
)

// The following codes are codes of warnings about app files.
const (
	PoorName      Code = "poor_name"      // the name of a store does not describe its content
	NoDescription Code = "no_description" // a tool has no description for models
	ShortLived    Code = "short_lived"    // shared records end with the session of the last writer
	NotGranted    Code = "not_granted"    // a store is not granted to any tool or prompt
	SchemaMistake Code = "schema_mistake" // a JSON Schema contains a likely mistake
	Contradiction Code = "contradiction"  // two settings contradict each other
	MissingGrant  Code = "missing_grant"  // the tool's grants do not allow a memory call in its code
	UnknownModel  Code = "unknown_model"  // the operator has not configured a model
	CodeMistake   Code = "code_mistake"   // code always fails or has no effect
)

// The following codes concern agent files.
const (
	Indentation    Code = "indentation"     // a line contains tabs, or its indentation matches no line above
	Access         Code = "access"          // the ACCESS of a fact does not allow a read or write
	Scope          Code = "scope"           // a path has two scopes
	Loop           Code = "loop"            // steps or handoffs never end
	Style          Code = "style"           // a discouraged form
	SuspiciousRule Code = "suspicious_rule" // a rule probably does not have the intended effect
)

// The following codes concern machines.
const (
	Permission  Code = "permission"  // a step lacks the permission that it requires
	Placeholder Code = "placeholder" // the file still contains a placeholder such as <name>
)
