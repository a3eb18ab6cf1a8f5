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

// mainCalled is true if Main was called and this process is not a worker.
var mainCalled atomic.Bool

// Main runs a worker if this process was started as a worker. Main does not return in a worker.
// Otherwise it does nothing. If a program creates a Pool, it must call Main at the start of its
// main function. The program must pass the same languages to Main and to the Pool.
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

// maxProcs is the number of processors that a worker can use. One is for the guest, and one is for
// the garbage collector.
const maxProcs = 2

// maxStackBytes is the maximum size of a goroutine's stack. Go's default limit of one gigabyte is
// higher than the memory limit of a worker.
const maxStackBytes = 32 << 20

// run first locks this process down. Then it reads requests of the parent from standard input, and
// compiles and runs programs. The function returns when the input ends. The function writes the
// replies to standard output.
func run(languages []Language) error {
	closeInherited()
	ignoreSignals()
	runtime.GOMAXPROCS(maxProcs)
	time.Local = engine.UTC // guests must not find out the time zone of the machine
	debug.SetMaxStack(maxStackBytes)
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr // output of other code must not corrupt the frames
	dropWhenFull(os.Stderr)
	if err := serve(in, out, languages); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// firstFrameSizes contains the frame size limits that apply before the handshake.
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
	s := newServer(wire, languages, parent) // reads shared state, but no guest data
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
