package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// slowEngine is an engine whose Load is slow and fails.
type slowEngine struct {
	name  string
	takes time.Duration
	ready bool
}

var errSlow = errors.New("load failed")

func (e slowEngine) Info() engine.Info  { return engine.Info{Name: e.name, Extensions: []string{".py"}} }
func (e slowEngine) Isolated() bool     { return true }
func (e slowEngine) Prepared() bool     { return e.ready }
func (e slowEngine) MemoryBytes() int64 { return 4711 }
func (e slowEngine) Load(context.Context, engine.Source) (engine.Program, error) {
	time.Sleep(e.takes)
	return nil, errSlow
}

// If stderr is not a terminal, a line must explain why the load of the first Python tool is slow.
func TestSlowLoadOfPythonIsAnnounced(t *testing.T) {
	const line = "note: getting Python 3.12.0 ready: the first use compiles the Python runtime, which takes up to half a minute\n"
	tests := []struct {
		name           string
		engine         slowEngine
		json, terminal bool
		want           string
	}{
		{"slow", slowEngine{pythonEngine, 5 * time.Second, false}, false, false, line},
		{"slow, with a compiled interpreter", slowEngine{pythonEngine, 5 * time.Second, true}, false, false, ""},
		{"quick", slowEngine{pythonEngine, 900 * time.Millisecond, false}, false, false, ""},
		{"slow with --json", slowEngine{pythonEngine, 5 * time.Second, false}, true, false, ""},
		{"slow, another language", slowEngine{"js", 5 * time.Second, false}, false, false, ""},
		{"slow at a terminal", slowEngine{pythonEngine, 1500 * time.Millisecond, false}, false, true, "\r\x1b[Kgetting Python 3.12.0 ready ... 1 s\r\x1b[K"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				out := &console{env: Env{Stderr: &stderr, StderrTerminal: test.terminal}.withDefaults(), json: test.json}
				e := announceLoads(out, []engine.Engine{test.engine})[0]
				if _, err := e.Load(t.Context(), engine.Source{}); err != errSlow || stderr.String() != test.want {
					t.Errorf("Load = %v and wrote %q; want the engine's error, and %q", err, stderr.String(), test.want)
				}
				if !engine.IsIsolated(e) || engine.DefaultMemory(e) != 4711 {
					t.Errorf("isolated = %t, memory = %d bytes; want the values of the engine", engine.IsIsolated(e), engine.DefaultMemory(e))
				}
			})
		})
	}
}

// Nested progress displays nothing.
func TestProgressWithinProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		out := &console{env: Env{Stderr: &stderr, StderrTerminal: true}.withDefaults()}
		err := out.progress("checking", func() error {
			_, err := announceLoads(out, []engine.Engine{slowEngine{pythonEngine, 1500 * time.Millisecond, false}})[0].Load(t.Context(), engine.Source{})
			return err
		})
		if err != errSlow || strings.Contains(stderr.String(), "Python") || !strings.Contains(stderr.String(), "checking ... 1 s") {
			t.Errorf("progress = %v and wrote %q; want only the outer text", err, stderr.String())
		}
	})
}
