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

const (
	workerCommand = "worker"
	workerFlag    = "--serve"
)

// mainCalled is true after Main was called in a process that is not a worker.
var mainCalled atomic.Bool

// Main runs a worker and does not return if this process was started as a worker. Otherwise it does
// nothing. A program that creates a Pool must call Main at the start of its main function, and pass
// the same languages to Main and to the Pool.
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

// maxProcs is the number of processors that a worker can use: one for the guest and one for the
// garbage collector.
const maxProcs = 2

// maxStackBytes is the maximum stack size of a goroutine. Go's own limit of one gigabyte exceeds
// the memory limit of a worker.
const maxStackBytes = 32 << 20

// The function "run" locks this process down. The function then reads the requests of the parent
// from standard input until the input ends, and compiles and runs programs. The function writes
// replies to standard output.
func run(languages []Language) error {
	closeInherited()
	ignoreSignals()
	runtime.GOMAXPROCS(maxProcs)
	time.Local = engine.UTC // guests must not see the time zone of the machine
	debug.SetMaxStack(maxStackBytes)
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr // stray output must not corrupt the frames
	dropWhenFull(os.Stderr)
	if err := serve(in, out, languages); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// firstFrameSizes contains the frame size limits before the handshake.
var firstFrameSizes = sizes{kindHandshake: 64 << 10}

func serve(in io.Reader, out io.Writer, languages []Language) error {
	wire := newWire(in, out)
	_, f, err := wire.receive(&firstFrameSizes)
	if err != nil {
		return fmt.Errorf("wait for parent handshake: %w", err)
	}
	var parent handshake
	parent.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read parent handshake: %w", err)
	}
	for _, l := range languages {
		if l.BeforeLockdown != nil {
			l.BeforeLockdown()
		}
	}
	s := newServer(wire, languages, parent) // newServer reads the shared state of a language, but no data from a guest
	answer := handshake{version: version, build: build(), key: parent.key}
	answer.layers = lockDown(parent, func(name string) bool { return !slices.Contains(parent.without, name) })
	if (Report{answer.layers}).On(LayerChroot) && s.folder != "" {
		s.folder = "/"
	}
	answer.write(wire.frame(kindHandshake))
	if err := wire.send(&wire.writing); err != nil {
		return fmt.Errorf("send handshake: %w", err)
	}
	return s.serve()
}
