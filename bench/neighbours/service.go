package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// These are the tenants. mallory and ann are users of the first tenant, and bob is a user of the
// second tenant.
const (
	attacked = "attacked"
	other    = "other"
)

// service is a running `toolrun serve` with its folder.
type service struct {
	dir, url string
	issuer   *issuer
	keys     map[string]string // operator keys by tenant
	process  *exec.Cmd
	ended    chan struct{}
}

// start creates an app in the folder dir, serves it, and waits until a tool has run.
func start(o options, dir string) (s *service, err error) {
	s = &service{dir: dir, keys: map[string]string{}, ended: make(chan struct{})}
	if err := writeApp(dir); err != nil {
		return nil, err
	}
	if s.issuer, err = newIssuer(filepath.Join(dir, "jwks.json")); err != nil {
		return nil, err
	}
	for _, tenant := range []string{attacked, other} {
		if err := s.makeKey(o.toolrun, tenant); err != nil {
			return nil, err
		}
	}
	s.process = exec.Command(o.toolrun, s.arguments(o)...)
	if o.memory > 0 { // workers set a lower limit themselves
		s.process = exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -d %d; exec "$0" "$@"`, o.memory<<10), o.toolrun}, s.arguments(o)...)...)
	}
	s.process.Dir = dir
	if s.process.Stderr, err = os.Create(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	err = s.await(out)
	go func() { _ = s.process.Wait(); close(s.ended) }() // the log contains the exit status
	if err != nil {
		s.stop()
	}
	return s, err
}

func (s *service) makeKey(binary, tenant string) error {
	out, err := exec.Command(binary, "key", "create", tenant, "--keys", filepath.Join(s.dir, "keys.json"), "--role", "operator", "--tenant", tenant, "--json").Output()
	if err != nil {
		return fmt.Errorf("create a key: %w", err)
	}
	var made struct{ Secret string }
	if err := json.Unmarshal(out, &made); err != nil {
		return fmt.Errorf("create a key: %w", err)
	}
	s.keys[tenant] = made.Secret
	return nil
}

// arguments returns the arguments for the command "serve". Some of these arguments are accepted by
// every version. The optional arguments are included only if this version accepts them.
func (s *service) arguments(o options) []string {
	args := []string{
		"serve", "app.yaml", "--keys", "keys.json", "--db", "memory.db", "--listen", "127.0.0.1:0",
		"--issuer", issuerName, "--audience", audience, "--jwks", "jwks.json",
	}
	if o.perApp > 0 {
		args = append(args, "--per-app", strconv.Itoa(o.perApp))
	}
	help, _ := exec.Command(o.toolrun, "serve", "--help").Output() // without help, no optional flags are passed
	if slices.Contains(strings.Fields(string(help)), "--linger") {
		args = append(args, "--linger", "1ms")
	}
	return append(args, o.extra...)
}

var listens = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// await reads the address from the output of the service, and runs a tool for both tenants.
func (s *service) await(out io.Reader) error {
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if s.url = listens.FindString(line); s.url == "" {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("the service did not start: %v\n%s", err, text)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	for _, tenant := range []string{attacked, other} {
		if got := s.user(tenant, "warm", "").run("note", nil); got != "ok" {
			return fmt.Errorf("the first run returned %s", got)
		}
	}
	return nil
}

// dead reports whether the service ended unexpectedly.
func (s *service) dead() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// stop stops the service. If the service does not stop in time, stop kills the service.
func (s *service) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(3 * time.Second):
		_ = s.process.Process.Kill()
		<-s.ended
	}
	http.DefaultClient.CloseIdleConnections()
}

// bytes returns the size of the database file.
func (s *service) bytes() int64 {
	info, err := os.Stat(filepath.Join(s.dir, "memory.db"))
	if err != nil {
		return 0
	}
	return info.Size()
}
