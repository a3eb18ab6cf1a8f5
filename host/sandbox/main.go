package sandbox

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// The arguments that a worker is started with.
const (
	workerCommand = "worker"
	workerFlag    = "--serve"
)

// mainCalled is set in a process that is no worker, once Main has found that out.
var mainCalled atomic.Bool

// Main makes this process a worker where it was started as one, and does not return then; otherwise it does nothing.
// A program that makes a Pool calls it first of all in main, with the Pool's languages.
func Main(languages ...Language) {
	mainCalled.Store(true)
	if len(os.Args) == 3 && os.Args[1] == workerCommand && os.Args[2] == workerFlag {
		if err := run(languages); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// processors is how many of them work for a worker at most: one for the guest, one for the garbage collector.
const maxProcs = 2

// maxStackBytes is how deep the stack of a goroutine may be. Go's own limit is a gigabyte, which a worker does not have.
const maxStackBytes = 32 << 20

// run is what a worker does: it locks this process down, and compiles and runs what its parent asks for on standard
// input and output until there is no more.
func run(languages []Language) error {
	closeInherited()
	ignoreSignals()
	runtime.GOMAXPROCS(maxProcs)
	time.Local = engine.UTC // not the machine's, which differs from one to the next
	debug.SetMaxStack(maxStackBytes)
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr // what is printed by mistake is no frame
	dropWhenFull(os.Stderr)
	if err := serve(in, out, languages); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// greetingSizes are what a worker takes in while it starts.
var firstFrameSizes = sizes{kindHandshake: 64 << 10}

func serve(in io.Reader, out io.Writer, languages []Language) error {
	wire := newWire(in, out)
	_, f, err := wire.receive(&firstFrameSizes)
	if err != nil {
		return fmt.Errorf("wait for the parent's first word: %w", err)
	}
	var parent handshake
	parent.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read how to be: %w", err)
	}
	for _, l := range languages {
		if l.BeforeLockdown != nil {
			l.BeforeLockdown()
		}
	}
	s := newServer(wire, languages, parent) // which reads what a language shares, and nothing of a guest's
	answer := handshake{version: version, build: build(), key: parent.key}
	answer.layers = lockDown(parent, func(name string) bool { return !slices.Contains(parent.without, name) })
	if (Report{answer.layers}).On(LayerChroot) && s.folder != "" {
		s.folder = "/"
	}
	answer.write(wire.frame(kindHandshake))
	if err := wire.send(&wire.writing); err != nil {
		return fmt.Errorf("answer the parent: %w", err)
	}
	return s.serve()
}
