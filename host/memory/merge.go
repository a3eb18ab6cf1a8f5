package memory

// merge applies a merge patch (RFC 7396): objects are merged deeply, null removes a member, anything else
// replaces. It changes neither argument; the answer shares what did not change with both.
func merge(target, patch any) any {
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
		merged[name] = merge(merged[name], value)
	}
	return merged
}
