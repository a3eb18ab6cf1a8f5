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

// The arguments that a cell is started with.
const (
	argument1 = "cell"
	argument2 = "--serve"
)

// mainCalled is set in a process that is no cell, once Main has found that out.
var mainCalled atomic.Bool

// Main makes this process a cell where it was started as one, and does not return then; otherwise it does nothing.
// A program that makes a Pool calls it first of all in main, with the Pool's languages.
func Main(languages ...Language) {
	mainCalled.Store(true)
	if len(os.Args) == 3 && os.Args[1] == argument1 && os.Args[2] == argument2 {
		if err := run(languages); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// processors is how many of them work for a cell at most: one for the guest, one for the garbage collector.
const processors = 2

// maxStackBytes is how deep the stack of a goroutine may be. Go's own limit is a gigabyte, which a cell does not have.
const maxStackBytes = 32 << 20

// run is what a cell does: it locks this process down, and compiles and runs what its parent asks for on standard
// input and output until there is no more.
func run(languages []Language) error {
	closeInherited()
	ignoreSignals()
	runtime.GOMAXPROCS(processors)
	time.Local = engine.UTC // not the machine's, which differs from one to the next
	debug.SetMaxStack(maxStackBytes)
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr // what is printed by mistake is no frame
	dropWhenFull(os.Stderr)
	if err := serve(in, out, languages); err != nil {
		return fmt.Errorf("cell: %w", err)
	}
	return nil
}

// greetingSizes are what a cell takes in while it starts.
var greetingSizes = sizes{kindHello: 64 << 10}

func serve(in io.Reader, out io.Writer, languages []Language) error {
	wire := newWire(in, out)
	_, f, err := wire.receive(&greetingSizes)
	if err != nil {
		return fmt.Errorf("wait for the parent's first word: %w", err)
	}
	var parent hello
	parent.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read how to be: %w", err)
	}
	for _, l := range languages {
		if l.BeforeLockdown != nil {
			l.BeforeLockdown()
		}
	}
	worker := newWorker(wire, languages, parent) // which reads what a language shares, and nothing of a guest's
	answer := hello{version: version, build: build(), key: parent.key}
	answer.layers = lockDown(parent, func(name string) bool { return !slices.Contains(parent.without, name) })
	if (Report{answer.layers}).On(LayerChroot) && worker.folder != "" {
		worker.folder = "/"
	}
	answer.write(wire.frame(kindHello))
	if err := wire.send(&wire.writing); err != nil {
		return fmt.Errorf("answer the parent: %w", err)
	}
	return worker.serve()
}
