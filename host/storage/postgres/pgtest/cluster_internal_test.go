package pgtest

import (
	"os"
	"testing"
)

// TestEnd checks that nothing of a cluster is left when the process that uses it is gone.
func TestEnd(t *testing.T) {
	var c Cluster
	c.DSN(t)
	if _, err := os.Stat(c.folder); err != nil {
		t.Fatal(err)
	}
	if err := c.alive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.shell.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
