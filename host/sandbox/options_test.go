//go:build linux

package sandbox_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/sandbox"
)

// TestMistakes checks that one call of New reports all errors in the options.
func TestMistakes(t *testing.T) {
	_, err := sandbox.New(sandbox.Options{Languages: []sandbox.Language{{}}, Workers: -1, Runs: -1, Require: []string{"moat"}})
	if err == nil {
		t.Fatal("New accepted invalid options")
	}
	for _, want := range []string{"New is nil", "Options.Workers is negative", "Options.Runs is negative", `the layer "moat" is unknown`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v; want an error that contains %q", err, want)
		}
	}
	if _, err := sandbox.New(sandbox.Options{}); err == nil || !strings.Contains(err.Error(), "Languages is empty") {
		t.Errorf("New = %v; want an error about missing languages", err)
	}
}

// TestRequire checks that New fails if a required layer is missing. The error must contain the
// reason.
func TestRequire(t *testing.T) {
	for _, layer := range kernelLayers {
		pool, err := sandbox.New(sandbox.Options{Languages: languages, Require: kernelLayers, Without: []string{layer}})
		if err == nil {
			pool.Close()
			t.Errorf("New returned no error, although the required layer %s is missing", layer)
		} else if !strings.Contains(err.Error(), layer+" (disabled by option)") {
			t.Errorf("New = %v; want an error that contains %s and the reason", err, layer)
		}
	}
	pool, err := sandbox.New(sandbox.Options{Languages: languages, Require: []string{sandbox.LayerProcess}})
	if err != nil {
		t.Fatal(err)
	}
	pool.Close()
}

// TestCommand uses a command that does not run workers. The pool must report this mistake.
func TestCommand(t *testing.T) {
	for _, command := range []string{"/bin/true", "/there/is/no/such/program"} {
		b := newBench(t, sandbox.Options{Command: command})
		if _, err := b.pool.Report(); codeOf(err) != "unavailable" || strings.Contains(err.Error(), command) {
			t.Errorf("Report with %s = %v; want unavailable, without a path", command, err)
		}
		if !strings.Contains(b.log.text(), "cannot start") {
			t.Errorf("log = %q; want the reason", b.log.text())
		}
	}
}
