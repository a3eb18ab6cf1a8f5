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

// The arguments of a worker process.
const (
	workerCommand = "worker"
	workerFlag    = "--serve"
)

// mainCalled is set by Main in a process that is not a worker.
var mainCalled atomic.Bool

// Main runs a worker and does not return if this process was started as a worker. Otherwise it does
// nothing. A program that makes a Pool calls it first in main, with the languages of the Pool.
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

// maxProcs is the number of processors of a worker: one for the guest, one for the garbage
// collector.
const maxProcs = 2

// maxStackBytes limits the stack of a goroutine. Go's own limit is a gigabyte, which exceeds the
// memory of a worker.
const maxStackBytes = 32 << 20

// run locks this process down, then compiles and runs what the parent requests on standard input,
// until the input ends. Answers go to standard output.
func run(languages []Language) error {
	closeInherited()
	ignoreSignals()
	runtime.GOMAXPROCS(maxProcs)
	time.Local = engine.UTC // the time zone of the machine is not visible to guests
	debug.SetMaxStack(maxStackBytes)
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr // stray output must not corrupt the frames
	dropWhenFull(os.Stderr)
	if err := serve(in, out, languages); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// firstFrameSizes limits the frames that a worker accepts before the handshake.
var firstFrameSizes = sizes{kindHandshake: 64 << 10}

func serve(in io.Reader, out io.Writer, languages []Language) error {
	wire := newWire(in, out)
	_, f, err := wire.receive(&firstFrameSizes)
	if err != nil {
		return fmt.Errorf("wait for the parent's handshake: %w", err)
	}
	var parent handshake
	parent.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read the parent's handshake: %w", err)
	}
	for _, l := range languages {
		if l.BeforeLockdown != nil {
			l.BeforeLockdown()
		}
	}
	s := newServer(wire, languages, parent) // reads the state that a language shares, but nothing of a guest
	answer := handshake{version: version, build: build(), key: parent.key}
	answer.layers = lockDown(parent, func(name string) bool { return !slices.Contains(parent.without, name) })
	if (Report{answer.layers}).On(LayerChroot) && s.folder != "" {
		s.folder = "/"
	}
	answer.write(wire.frame(kindHandshake))
	if err := wire.send(&wire.writing); err != nil {
		return fmt.Errorf("send the handshake: %w", err)
	}
	return s.serve()
}
