package engine

import "github.com/toolrun/toolrun/abi"

// ReservedKey reports whether a context key is reserved. Such a key belongs to the workflow that
// runs the tool. Tools can read a reserved key, but cannot change it.
func ReservedKey(key string) bool {
	switch key {
	case "steps", "branch", "status", "dbquery":
		return true
	}
	return false
}

// ReservedKeyFault returns the fault for a tool that changed a reserved key. The argument "name" is
// the key, in the syntax of the tool's language.
func ReservedKeyFault(name string) error {
	return abi.Faultf(abi.OutputInvalid, "%s is reserved for the workflow and cannot be changed", name).
		WithHint("return the value instead, or set a different context key")
}
