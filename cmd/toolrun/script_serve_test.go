package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// servedKey is the key of the script's service in the values of the script.
type servedKey struct{}

// served is the service of a script. served is nil while no service runs.
type served struct {
	cmd *exec.Cmd
	log *lines
}

// lines is the log of a service. lines is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The method "after" ignores the log before the given offset. The method "after" waits until the
// rest of the log contains one of the given texts. The method "after" returns the text that it has
// found.
func (l *lines) after(begin int, texts ...string) (string, error) {
	for range 3000 {
		output := l.String()[begin:]
		for _, text := range texts {
			if strings.Contains(output, text) {
				return output, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", fmt.Errorf("the log does not contain any of %q: %s", texts, l)
}

// stop stops the service with the signal of Ctrl-C.
func (s *served) stop() error {
	if s.cmd == nil {
		return nil
	}
	cmd := s.cmd
	s.cmd = nil
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill() // Windows does not have this signal
	}
	return cmd.Wait()
}

// serve implements the command "serve", which starts a service in the background. The service runs
// until the command "unserve" or until the end of the script. Usage: serve APP... The command
// "serve" sets $URL to the service's address and $TOOLRUN_KEY to a key of the service. Later
// commands use both variables.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servedKey{}).(*served)
	if neg || s.cmd != nil {
		ts.Fatalf("usage: serve [app...], once at a time")
	}
	cmd := exec.Command("toolrun", append([]string{"serve", "--dev", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	s.log = &lines{}
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s.cmd = cmd
	ts.Defer(func() { _ = s.stop() })
	var output struct{ URL, Key string }
	if err := json.NewDecoder(out).Decode(&output); err != nil {
		_ = s.stop()
		ts.Fatalf("the service did not start: %v\n%s", err, s.log)
	}
	ts.Setenv("URL", output.URL)
	ts.Setenv("TOOLRUN_KEY", output.Key)
}

// logged waits until the service has logged a text. Usage: logged TEXT.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servedKey{}).(*served)
	if neg || s.log == nil || len(args) != 1 {
		ts.Fatalf("usage: logged text, while a service runs")
	}
	_, err := s.log.after(0, args[0])
	ts.Check(err)
}

// reload implements the command "reload", which makes the service reload its app files. The reload
// must succeed. For the command "! reload", the service must reject the app files.
func reload(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servedKey{}).(*served)
	if s.cmd == nil || len(args) > 0 {
		ts.Fatalf("usage: [!] reload, while a service runs")
	}
	const taken, refused = "the app files were reloaded", "the app files were not reloaded"
	begin := len(s.log.String())
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		ts.Fatalf("this system has no SIGHUP: %v", err)
	}
	output, err := s.log.after(begin, taken, refused)
	ts.Check(err)
	if strings.Contains(output, refused) != neg {
		ts.Fatalf("the service logged: %s", output)
	}
}

// unserve stops the service. The service must exit without an error.
func unserve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: unserve")
	}
	ts.Check(ts.Value(servedKey{}).(*served).stop())
}
