// Package mergepatch applies JSON Merge Patches (RFC 7396).
package mergepatch

// Apply returns target after a patch was applied: objects are merged deeply, null removes a member,
// and any other value replaces the existing value. target and patch are values in the form that
// package strictjson decodes. Apply does not modify target or patch. The result shares unchanged
// parts with target and patch.
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
