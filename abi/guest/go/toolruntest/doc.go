// Package toolruntest is a host for the tests of plug-ins, so that go test runs a tool without WebAssembly:
//
//	func TestGreet(t *testing.T) {
//		h := toolruntest.New(t)
//		h.Set("prefs", map[string]any{"language": "de"})
//		got, err := greet(input{Name: "Ann"})
//		...
//	}
//
// Its memory is a map. It merges (RFC 7396), replaces, deletes, counts revisions and raises the faults that a test
// asks for. It knows no grants, schemas, defaults, retention or limits, it ignores projections and ttl, and no call
// is a transaction: what these mean for a tool shows where it runs on toolrun itself.
package toolruntest
