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

// servedKey is the Value of a script that has the service it started.
type servedKey struct{}

// served is the service of a script, nil while there is none.
type served struct {
	cmd *exec.Cmd
	log *lines
}

// lines is what a service wrote to its log. It is safe for concurrent use.
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

// after waits for one of some texts in what is written after a number of bytes, and returns that.
func (l *lines) after(begin int, texts ...string) (string, error) {
	for range 3000 {
		said := l.String()[begin:]
		for _, text := range texts {
			if strings.Contains(said, text) {
				return said, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", fmt.Errorf("the log never says one of %q: %s", texts, l)
}

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
	s.log = &lines{}
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s.cmd = cmd
	ts.Defer(func() { _ = s.stop() })
	var said struct{ URL, Key string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		_ = s.stop()
		ts.Fatalf("the service did not start: %v\n%s", err, s.log)
	}
	ts.Setenv("URL", said.URL)
	ts.Setenv("TOOLRUN_KEY", said.Key)
}

// logged waits until the log of the service holds a text: logged text.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servedKey{}).(*served)
	if neg || s.log == nil || len(args) != 1 {
		ts.Fatalf("usage: logged text, while a service runs")
	}
	_, err := s.log.after(0, args[0])
	ts.Check(err)
}

// reload has the service read its app files again, and waits until it has, or refuses with ! in front.
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
	said, err := s.log.after(begin, taken, refused)
	ts.Check(err)
	if strings.Contains(said, refused) != neg {
		ts.Fatalf("the service says: %s", said)
	}
}

// unserve stops the service, which then has to end well.
func unserve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: unserve")
	}
	ts.Check(ts.Value(servedKey{}).(*served).stop())
}
