package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestStop checks that nothing remains of a cluster when its process ends.
func TestStop(t *testing.T) {
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
		t.Errorf("Stat of the folder = %v; want an error, because the folder was removed", err)
	}
}

// TestFindPrograms checks that the newest version is found, and that unsupported versions are
// ignored.
func TestFindPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	versions := t.TempDir()
	install := func(version string) {
		folder := filepath.Join(versions, version, "bin")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "initdb"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install("9.6")
	install("13")
	if got, err := findPrograms(versions); !errors.Is(err, errMissing) {
		t.Errorf("findPrograms among old versions = %q, %v; want %v", got, err, errMissing)
	}
	install("14")
	install("15")
	if got, err := findPrograms(versions); filepath.Base(filepath.Dir(got)) != "15" || err != nil {
		t.Errorf("findPrograms = %q, %v; want version 15", got, err)
	}
}
