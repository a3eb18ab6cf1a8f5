// Package mergepatch applies JSON Merge Patches (RFC 7396).
package mergepatch

// Apply returns target with a patch applied: objects are merged deeply, null removes a member, anything else replaces. Both
// are values as package strictjson decodes them. It changes neither of them; the result shares what did not change with both.
func Apply(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	old, _ := target.(map[string]any)
	merged := make(map[string]any, len(old)+len(fields))
	for name, value := range old {
		merged[name] = value
	}
	for name, value := range fields {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = Apply(merged[name], value)
	}
	return merged
}
