package problem

// Code identifies the kind of a Problem for programs. Codes can be added, but are never changed or
// removed.
type Code string

// The codes that concern files of every kind.
const (
	Syntax        Code = "syntax"         // text that cannot be parsed
	UnknownKey    Code = "unknown_key"    // a key that is not known at its position
	MissingKey    Code = "missing_key"    // a required key is missing
	DuplicateName Code = "duplicate_name" // two declarations have one name, or names that differ only by case
	UnknownName   Code = "unknown_name"   // the name of something that is not declared
	BadName       Code = "bad_name"       // an invalid name
	BadValue      Code = "bad_value"      // a value of the right type that is not allowed
	OverLimit     Code = "over_limit"     // a limit is exceeded
	NoEffect      Code = "no_effect"      // a declaration or a setting without effect
	BadTemplate   Code = "bad_template"   // a template that cannot be parsed
)

// The codes of errors in app files.
const (
	Unreadable    Code = "unreadable"     // the file is missing, empty or too large, or is not UTF-8 text
	DuplicateKey  Code = "duplicate_key"  // a key that occurs twice in one mapping
	WrongType     Code = "wrong_type"     // a value of the wrong type, such as a list instead of a string
	UnknownStore  Code = "unknown_store"  // a grant on a store that is not declared
	MissingFile   Code = "missing_file"   // a referenced file that does not exist or cannot be read
	OutsideFolder Code = "outside_folder" // a path or a link that leaves the folder
	BadSource     Code = "bad_source"     // a source that the engines cannot run
	BadSchema     Code = "bad_schema"     // a JSON Schema that is invalid or too expensive
)

// The codes of warnings about app files.
const (
	PoorName      Code = "poor_name"      // a store name that does not describe the content
	NoDescription Code = "no_description" // a tool without a description, which models use to choose a tool
	ShortLived    Code = "short_lived"    // a shared store whose records end with the session of the last writer
	NotGranted    Code = "not_granted"    // a store that is not granted to any tool or prompt
	SchemaMistake Code = "schema_mistake" // a JSON Schema with a likely mistake
	Contradiction Code = "contradiction"  // two settings that contradict each other
	MissingGrant  Code = "missing_grant"  // a memory call that the tool's grants do not allow
	UnknownModel  Code = "unknown_model"  // a model that the operator has not configured
	CodeMistake   Code = "code_mistake"   // code that always fails or has no effect
)

// The codes that concern agent files.
const (
	Indentation    Code = "indentation"     // tabs, or an indentation that matches no line above
	Access         Code = "access"          // a read or write that ACCESS does not allow
	Scope          Code = "scope"           // a path with two scopes
	Loop           Code = "loop"            // steps or handoffs that never end
	Style          Code = "style"           // a discouraged form
	SuspiciousRule Code = "suspicious_rule" // a rule that probably does not have the intended effect
)

// The codes that concern machines.
const (
	Permission  Code = "permission"  // a step without the permission that it requires
	Placeholder Code = "placeholder" // a placeholder such as <name>
)
