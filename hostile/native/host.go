//go:build linux && (amd64 || arm64)

package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// The following constants are the time limits of a run.
const (
	deadline = 5 * time.Second
	lateness = 2 * time.Second // long enough for a busy machine and for freeing the memory
)

// host is the target of attacks. A host consists of a pool of workers and a neighbor. The neighbor
// is a harmless guest that runs all the time.
type host struct {
	pool      *sandbox.Pool
	without   string
	dir       string
	neighbour engine.Program
	socket    net.Listener
}

// newHost returns a host that uses the given folder. The argument "without" is the disabled layer,
// or "" if no layer is disabled.
func newHost(dir, without string) (*host, error) {
	options := sandbox.Options{Languages: Languages(), CacheDir: filepath.Join(dir, "cache"), Workers: 4}
	if without != "" {
		options.Without = []string{without}
	}
	pool, err := sandbox.New(options)
	if err != nil {
		return nil, err
	}
	h := &host{pool: pool, without: without, dir: dir}
	h.neighbour, err = h.engine(plain).Load(context.Background(), engine.Source{Path: "good", Code: []byte(good), Domain: "neighbour"})
	if err == nil {
		h.socket, err = net.Listen("unix", fmt.Sprintf("@toolrun-native-%d", os.Getpid()))
	}
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return h, nil
}

func (h *host) close() error {
	return errors.Join(h.socket.Close(), h.neighbour.Close(), h.pool.Close())
}

func (h *host) engine(name string) engine.Engine {
	for _, e := range h.pool.Engines() {
		if e.Info().Name == name {
			return e
		}
	}
	return nil
}

// try runs one attack and returns the result.
func (h *host) try(a Attack) Result {
	r := Result{Attack: a.Name, Without: h.without}
	if !h.benign() {
		r.Answer = "the neighboring guest is not running"
		return r
	}
	stop, during := make(chan struct{}), make(chan bool)
	go func() { during <- h.keepRunning(stop) }()
	began := time.Now()
	r.Answer, r.Blocked = h.attack(a)
	r.Duration = time.Since(began)
	r.Late = r.Duration > deadline+lateness
	close(stop)
	r.Alive = <-during && h.benign()
	return r
}

// keepRunning runs the neighbor until the channel "stop" is closed.
func (h *host) keepRunning(stop chan struct{}) bool {
	for {
		select {
		case <-stop:
			return true
		default:
			if !h.benign() {
				return false
			}
		}
	}
}

// benign reports whether the neighbor returns the correct result. The process of the neighbor may
// be killed once. The host then starts another process, and the second run must succeed.
func (h *host) benign() bool {
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		out, err := h.neighbour.Run(ctx, engine.Input{Domain: "neighbour", Input: []byte(`"as it was"`)}, engine.Host{})
		cancel()
		if err == nil && string(out.Output) == `"as it was"` {
			return true
		}
	}
	return false
}

// attack returns the result of an attack, and whether the attack was blocked.
func (h *host) attack(a Attack) (answer string, blocked bool) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	language := plain
	if a.compiled || a.load != nil {
		language = compiled
	}
	program, err := h.engine(language).Load(ctx, engine.Source{Path: "attack", Code: []byte(a.Name), Domain: "attacker"})
	if a.planted != "" && err == nil {
		defer program.Close()
		_, missing := os.Stat(filepath.Join(h.dir, "cache", a.planted))
		return "compiled", missing != nil
	}
	if err != nil {
		return describe(err), true
	}
	defer program.Close()
	if a.load != nil {
		return succeeded, false
	}
	file := filepath.Join(h.dir, "foreign", "file")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("x"), 0o600)); err != nil {
		return err.Error(), false
	}
	input, err := json.Marshal(victims{Host: os.Getpid(), Neighbour: h.neighbourPid(), File: file})
	if err != nil {
		return err.Error(), false
	}
	out, err := program.Run(ctx, engine.Input{Domain: "attacker", Input: input}, engine.Host{})
	if err != nil {
		return describe(err), true
	}
	if json.Unmarshal(out.Output, &answer) != nil {
		return "a result that is not text", false
	}
	return answer, answer != succeeded
}

// neighbourPid returns the ID of a child process. The returned child process can be the worker that
// runs the attack.
func (h *host) neighbourPid() int {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		var pid int
		if _, err := fmt.Sscan(string(text), &pid); err == nil {
			return pid
		}
	}
	return os.Getppid()
}

// describe formats an error as a short text for a table.
func describe(err error) string {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return string(f.Code)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// Main starts a host in this process, runs attacks on the host, and writes each Result as a line of
// JSON. At most one isolation layer of the host is disabled. Main must be called in a separate
// process. Before each attack, Main writes the name of the attack in a line that starts with #. If
// an attack ends this process, the last line that starts with # contains the name of the attack.
// The argument "args" contains the folder, the layer, and the names of attacks.
func Main(args []string) error {
	if len(args) < 2 {
		return errors.New("native: want a folder and a layer as arguments")
	}
	h, err := newHost(args[0], args[1])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, name := range args[2:] {
		a := find(name)
		if a == nil {
			return fmt.Errorf("native: unknown attack %q", name)
		}
		fmt.Printf("# %s\n", name)
		if err := out.Encode(h.try(*a)); err != nil {
			return err
		}
	}
	return h.close()
}
