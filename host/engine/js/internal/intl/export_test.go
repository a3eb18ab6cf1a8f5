package intl

import (
	"os/exec"
	"strings"
	"testing"
)

// NodeOfCLDR returns the path of Node.js if its ICU version matches the data of this package.
func NodeOfCLDR(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	version, err := exec.Command(node, "-p", "process.versions.icu").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(version)); got != "78.2" {
		t.Skipf("Node.js has ICU %s, and the data are those of 78.2", got)
	}
	return node
}
