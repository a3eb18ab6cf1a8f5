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

// The times of a run.
const (
	deadline = 5 * time.Second
	lateness = 2 * time.Second // on a busy machine, which also takes back the memory
)

// host is what attacks are on: a pool, with a neighbour that runs all the time.
type host struct {
	pool      *sandbox.Pool
	without   string
	dir       string
	neighbour engine.Program
	socket    net.Listener
}

// newHost makes a host in a folder, of which a layer is left out; "" for none.
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

// try has an attack tried.
func (h *host) try(a Attack) Result {
	r := Result{Attack: a.Name, Without: h.without}
	if !h.benign() {
		r.Answer = "the neighbour does not run"
		return r
	}
	stop, during := make(chan struct{}), make(chan bool)
	go func() { during <- h.keepRunning(stop) }()
	began := time.Now()
	r.Answer, r.Held = h.attack(a)
	r.Took = time.Since(began)
	r.Late = r.Took > deadline+lateness
	close(stop)
	r.Alive = <-during && h.benign()
	return r
}

// keepRunning runs the neighbour until it is stopped.
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

// benign reports whether the neighbour answers what it should. That somebody killed its process is no harm once: the host
// starts another.
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

// attack returns what an attack answered, and whether it was held.
func (h *host) attack(a Attack) (answer string, held bool) {
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
		return "an answer that is no text", false
	}
	return answer, answer != succeeded
}

// neighbourPid is a child of this process, which the attacker may happen to be itself.
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

// describe is an error as a table has it.
func describe(err error) string {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return string(f.Code)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// Main tries attacks on a host in this process, with a layer left out, and writes each Result as a line of JSON. What it
// does next it says before, in a line that begins with a #, so that who reads it knows where this process ended. It is for
// a process of its own. Args are the folder, the layer, and the names of attacks.
func Main(args []string) error {
	if len(args) < 2 {
		return errors.New("native: the folder and the layer are missing")
	}
	h, err := newHost(args[0], args[1])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, name := range args[2:] {
		a := find(name)
		if a == nil {
			return fmt.Errorf("native: there is no attack %q", name)
		}
		fmt.Printf("# %s\n", name)
		if err := out.Encode(h.try(*a)); err != nil {
			return err
		}
	}
	return h.close()
}
