package engine

import "github.com/toolrun/toolrun/abi"

// ReservedKey reports whether a context key is reserved for the workflow that runs the tool. Tools
// can only read reserved keys.
func ReservedKey(key string) bool {
	switch key {
	case "steps", "branch", "status", "dbquery":
		return true
	}
	return false
}

// ReservedKeyFault returns the fault for a tool that changed a reserved key. name is the key in the
// syntax of the tool's language.
func ReservedKeyFault(name string) error {
	return abi.Faultf(abi.OutputInvalid, "%s is reserved for the workflow and cannot be changed", name).
		WithHint("return the value instead, or set a different context key")
}
