package host

import (
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// TestHostContext encodes a context in two ways: without an object of the caller, and with an empty
// object of the caller. The results must be equal.
func TestHostContext(t *testing.T) {
	for _, c := range []hostContext{
		{App: "shop", Env: map[string]string{}, Run: "run_1"},
		{App: "a<b", Env: map[string]string{"B": "2", "A": "\"1\""}, Run: "run_2", Session: "s1", User: "ann & bob"},
	} {
		direct, err := strictjson.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		added, err := c.addTo([]byte("{}"))
		if err != nil || string(added) != string(direct) {
			t.Errorf("with an empty object: %s, %v\nwithout: %s", added, err, direct)
		}
	}
}
