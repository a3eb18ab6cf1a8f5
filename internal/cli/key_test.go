package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// TestKeyCreate creates a key for each role that the help lists. A rejected role must not create a
// file.
func TestKeyCreate(t *testing.T) {
	for _, role := range []string{"operator", "runtime", "read-only", "approver", "backup", "metering"} {
		dir := t.TempDir()
		if exit, stdout, stderr := call(t, cli.Env{Args: []string{"key", "create", "--keys", "keys.json", "--role", role, "k"}, Dir: dir}); exit != 0 || !strings.HasPrefix(stdout, "trk_") {
			t.Errorf("key create --role %s = %d, %s", role, exit, stderr)
		}
		if exit, stdout, stderr := call(t, cli.Env{Args: []string{"key", "list", "--keys", "keys.json"}, Dir: dir}); exit != 0 || !strings.Contains(stdout, role) {
			t.Errorf("key list after --role %s = %d, %s%s", role, exit, stdout, stderr)
		}
	}
	for _, role := range []string{"user", "root"} {
		dir := t.TempDir()
		exit, _, stderr := call(t, cli.Env{Args: []string{"key", "create", "--keys", "keys.json", "--role", role, "k"}, Dir: dir})
		if exit != 2 || !strings.Contains(stderr, "backup or metering") {
			t.Errorf("key create --role %s = %d, %s; want 2 and the roles", role, exit, stderr)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("key create --role %s leaves %v, %v", role, left, err)
		}
	}
}
