// Package doubletest lets a test binary act as the program toolrun. The package supports tests that
// start toolrun double.
package doubletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

const name = "toolrun"

// Main runs the command line of toolrun and exits, if the test binary was started under the path
// that the function Toolrun returns. Otherwise, Main returns. TestMain must call Main before
// anything else.
func Main() {
	if filepath.Base(os.Args[0]) != name {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		os.Exit(1)
	}
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Dir: dir, Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

// Toolrun returns the path of the program toolrun. The program is the test binary itself. The test
// cache of Go therefore detects all changes of the program.
func Toolrun(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, file); err != nil {
		t.Fatal(err)
	}
	return file
}
