package wasm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
)

// TestGuests holds the committed probes of the bindings against the contract.
func TestGuests(t *testing.T) {
	for _, language := range []string{"c", "assemblyscript"} {
		t.Run(language, func(t *testing.T) {
			code, err := os.ReadFile(filepath.Join("../../../abi/guest", language, "probe/probe.wasm"))
			if err != nil {
				t.Fatal(err)
			}
			abitest.Guest(t, loadPlugin(t, code))
		})
	}
	t.Run("go", func(t *testing.T) { abitest.Guest(t, loadPlugin(t, buildPlugin(t, "../../../../abi/guest/go/probe"))) })
}
