package abitest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

// TestFaultsPage checks that docs/reference/faults.md lists every code with its HTTP status and its
// exit code.
func TestFaultsPage(t *testing.T) {
	const faults = "../../docs/reference/faults.md"
	content, err := os.ReadFile(faults)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| code | meaning | HTTP status | exit code |\n| --- | --- | --- | --- |\n")
	for _, code := range abi.Codes() {
		fmt.Fprintf(&table, "| `%s` | %s | %d | %d |\n", code, code.Meaning(), httpapi.StatusOf(code), exitcode.Of(code))
	}
	want := replace(t, string(content), "codes", table.String())
	if want == string(content) {
		return
	}
	if !*update {
		t.Fatal("docs/reference/faults.md is stale: go test ./abi/abitest -update")
	}
	if err := os.WriteFile(faults, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
