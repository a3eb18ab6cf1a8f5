// Package toolruntest provides a host for the tests of plug-ins, so that go test runs a tool
// without WebAssembly:
//
//	func TestGreet(t *testing.T) {
//		h := toolruntest.New(t)
//		h.Set("prefs", map[string]any{"language": "de"})
//		got, err := greet(input{Name: "Ann"})
//		...
//	}
//
// Its memory is a map. It merges (RFC 7396), replaces, deletes, counts revisions, and returns the
// faults that a test requests. It has no grants, schemas, defaults, retention, limits or
// transactions, and it ignores projections and ttl. Use toolrun itself to test these.
package toolruntest
