// Package toolruntest provides a host for tests of plug-ins. With this host, go test runs a tool as
// native code, without WebAssembly:
//
//	func TestGreet(t *testing.T) {
//		h := toolruntest.New(t)
//		h.Set("prefs", map[string]any{"language": "de"})
//		got, err := greet(input{Name: "Ann"})
//		...
//	}
//
// The host stores contents in a map. The host merges (RFC 7396), replaces and deletes contents, and
// counts revisions. The host also returns the faults that a test requests. The host has no grants,
// schemas, defaults, retention, limits or transactions, and it ignores projections and ttl. Use
// toolrun itself to test the features that the test host lacks.
package toolruntest
