package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// servedKey is the Value of a script that has the service it started.
type servedKey struct{}

// served is the service of a script, nil while there is none.
type served struct{ cmd *exec.Cmd }

// stop ends the service, as Ctrl-C does.
func (s *served) stop() error {
	if s.cmd == nil {
		return nil
	}
	cmd := s.cmd
	s.cmd = nil
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill() // there is no such signal on Windows
	}
	return cmd.Wait()
}

// serve serves apps in the background, until unserve or the end of the script: serve app... The script then has where
// that is in $URL, and the key in $TOOLRUN_KEY, where commands look for it.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servedKey{}).(*served)
	if neg || s.cmd != nil {
		ts.Fatalf("usage: serve [app...], once at a time")
	}
	cmd := exec.Command("toolrun", append([]string{"serve", "--dev", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s.cmd = cmd
	ts.Defer(func() { _ = s.stop() })
	var said struct{ URL, Key string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		_ = s.stop()
		ts.Fatalf("the service did not start: %v\n%s", err, stderr.String())
	}
	ts.Setenv("URL", said.URL)
	ts.Setenv("TOOLRUN_KEY", said.Key)
}

// unserve stops the service, which then has to end well.
func unserve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: unserve")
	}
	ts.Check(ts.Value(servedKey{}).(*served).stop())
}
