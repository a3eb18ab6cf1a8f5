package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// worker is the inside of a cell. It does one thing at a time, and all of it on one goroutine but for what an engine
// itself does.
type worker struct {
	wire     *wire
	engines  map[string]func(key string) engine.Engine
	programs map[uint64]engine.Program
	folder   string       // of the outfit, as this process names it
	make     func() error // what the language of the outfit shares; nil where the cell is for something else
	asking   sync.Mutex   // held from a question of a load to its answer: a bundler asks from many goroutines

	host   engine.Host
	limits engine.Limits // of the run under way
	lines  int           // of its log
	bytes  int           // of its log
	memory int64         // the limit that the garbage collector knows
	used   int64         // the memory without a guest

	parent  int         // the process that started this one
	running atomic.Bool // a guest is
	orphan  *time.Timer // of checkParent
}

func newWorker(w *wire, languages []Language, parent hello) *worker {
	k := &worker{wire: w, engines: map[string]func(string) engine.Engine{}, programs: map[uint64]engine.Program{}}
	k.parent, k.orphan = os.Getppid(), time.AfterFunc(orphanEvery, func() { k.checkParent() })
	k.folder = parent.outfit.folder
	k.host = engine.Host{Call: k.call, Log: k.log}
	for _, l := range languages {
		k.add(l, parent)
	}
	return k
}

// add makes the engine of a language. Where it shares something, the engine is made with that, and started.
func (k *worker) add(l Language, parent hello) {
	e, o := l.New(Setup{Panicked: panicked}), parent.outfit
	switch name := e.Info().Name; {
	case l.Shared == nil || o.language != name:
	case parent.purpose == toMake:
		k.make = func() error {
			var files []string
			for _, name := range parent.files {
				files = append(files, filepath.Join(k.folder, name))
			}
			return l.Shared.Prepare(context.Background(), Setup{Panicked: panicked, Files: files, CacheDir: filepath.Join(k.folder, freshKey)})
		}
	default:
		e = l.New(Setup{Panicked: panicked, CacheDir: o.shared})
		l.Shared.Start(context.Background(), e)
	}
	k.engines[e.Info().Name] = func(key string) engine.Engine {
		if key == "" || k.folder == "" {
			return e
		}
		return l.New(Setup{Panicked: panicked, CacheDir: filepath.Join(k.folder, key)})
	}
}

// makeShared makes what a language shares.
func (k *worker) makeShared() error {
	if k.make == nil {
		return errors.New("this cell is there for no language")
	}
	status, said := uint64(outcomeOutput), []byte(nil)
	if err := k.make(); err != nil {
		status, said = failure(err)
	}
	return k.wire.send(k.wire.frame(kindLoaded).number(status).data(said).data(nil))
}

// panicked leaves what a panic was to the parent, which asks for it when it hears of the internal fault.
func panicked(value any, stack []byte) { fmt.Fprintf(os.Stderr, "panic: %v\n%s\n", value, stack) }

// workSizes are what a cell takes in between two runs.
var workSizes = sizes{kindLoad: maxSourceBytes + 1<<20, kindRun: maxRunBytes + 1<<10, kindMake: 1}

// serve works until the parent is gone.
func (k *worker) serve() error {
	for {
		kind, f, err := k.wire.receive(&workSizes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case kindLoad:
			err = k.load(f)
		case kindMake:
			err = k.makeShared()
		default:
			err = k.run(f)
		}
		if err != nil {
			return err
		}
	}
}

// load compiles a source.
func (k *worker) load(f *fields) error {
	id, name, operations, key := f.number(), f.text(), f.data(), f.text()
	src := engine.Source{Path: f.text(), Entry: f.text()}
	if f.number() == 1 {
		src.Files = &remoteFiles{worker: k, known: map[string]*remoteFile{}}
	}
	src.Review = f.number() == 1
	src.Params, src.Code = f.texts(maxParams), f.data()
	if err := f.end(); err != nil {
		return fmt.Errorf("read a source: %w", err)
	}
	if err := json.Unmarshal(operations, &src.Operations); err != nil {
		return fmt.Errorf("read the operations: %w", err)
	}
	newEngine := k.engines[name]
	if newEngine == nil {
		return fmt.Errorf("there is no engine %q in this cell", name)
	}
	program, err := newEngine(key).Load(context.Background(), src)
	status, said, review := uint64(outcomeOutput), []byte(nil), []byte(nil)
	if err != nil {
		status, said = failure(err)
	} else {
		k.programs[id] = program
		review = reviewOf(program, src)
	}
	k.settle()
	return k.wire.send(k.wire.frame(kindLoaded).number(status).data(said).data(review))
}

// reviewOf is the review of a source as JSON, if it was asked for.
func reviewOf(program engine.Program, src engine.Source) []byte {
	if !src.Review {
		return nil
	}
	text, err := json.Marshal(engine.ReviewOf(program).Bounded())
	if err != nil || len(text) > maxFaultBytes/2 {
		return nil
	}
	return text
}

// settle takes the memory that is left after compiling for what a guest has beside its own.
func (k *worker) settle() {
	debug.FreeOSMemory()
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(total)
	k.used, k.memory = int64(total[0].Value.Uint64()-total[1].Value.Uint64()), 0
}

// failure is an error as its kind and its text.
func failure(err error) (status uint64, said []byte) {
	if errors.Is(err, errHalted) {
		return outcomeHalted, nil
	}
	fault, ok := err.(*abi.Fault)
	if !ok {
		return outcomeBroken, []byte(cut(err.Error()))
	}
	said, err = json.Marshal(fault)
	if err != nil || len(said) > maxFaultBytes-1<<10 {
		short := abi.Faultf(fault.Code, "%s", cut(fault.Message))
		short.ID = cut(fault.ID)
		said, _ = json.Marshal(short) // of texts alone
	}
	return outcomeFault, said
}

// cut is the beginning of a text that is too long.
func cut(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// run executes a program once.
func (k *worker) run(f *fields) error {
	program := k.programs[f.number()]
	in, left := readInput(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read a run: %w", err)
	}
	if program == nil {
		return errors.New("there is no such program in this cell")
	}
	k.limits, k.lines, k.bytes = in.Limits, 0, 0
	k.limitMemory(in.Limits.MemoryBytes)
	ctx := context.Background()
	if left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	k.running.Store(true)
	k.orphan.Reset(orphanEvery)
	defer func() {
		k.running.Store(false)
		k.orphan.Stop()
	}()
	out, err := program.Run(ctx, in, k.host)
	return k.answer(out, err)
}

// orphanEvery is how often a cell looks, while a guest runs, whether its parent is still there.
const orphanEvery = time.Second

// checkParent ends this process where its parent has ended. That is for systems where the kernel does not: a guest that
// goes on never lets the cell read that nobody is there any more.
func (k *worker) checkParent() {
	if os.Getppid() != k.parent {
		os.Exit(1)
	}
	if k.running.Load() {
		k.orphan.Reset(orphanEvery)
	}
}

// limitMemory has the garbage collector try harder before the kernel refuses.
func (k *worker) limitMemory(bytes int64) {
	const least = 4 << 20 // with less, the collector does nothing else
	if bytes = max(bytes, least); k.memory != bytes {
		k.memory = bytes
		debug.SetMemoryLimit(k.used + bytes)
	}
}

// answer sends what came of a run.
func (k *worker) answer(out engine.Output, err error) error {
	status, said := uint64(outcomeOutput), []byte(nil)
	if err != nil {
		status, said = failure(err)
	}
	f := k.wire.frame(kindOutcome).number(status).number(uint64(max(out.MemoryBytes, 0)))
	f.data(out.Output).optional(out.Context).data(said).texts(bounded(out.Warnings))
	return k.wire.send(f)
}

// bounded are the first warnings.
func bounded(warnings []string) []string {
	size := 0
	for i, w := range warnings {
		if size += len(w) + 10; i == maxWarnings || size > maxWarningBytes {
			return warnings[:i]
		}
	}
	return warnings
}

// errHalted stands for the error of a host that ended a run, which stays with the parent.
var errHalted = errors.New("the host ended the run")

// replySizes are what a cell takes in while it waits for the answer to a memory call, fileSizes for that to a file.
var (
	replySizes = sizes{kindReply: 256 << 20}
	fileSizes  = sizes{kindFile: maxFileBytes + 16<<20}
)

// call has the parent perform a memory call.
func (k *worker) call(_ context.Context, call abi.Call) (json.RawMessage, error) {
	f := k.wire.frame(kindCall)
	f.text(call.Op).number(uint64(len(call.Args)))
	for _, arg := range call.Args {
		f.optional(arg)
	}
	if len(f.bytes)-headBytes > maxCallBytes {
		return nil, abi.Faultf(abi.TooLarge, "the arguments of %s have more than %d bytes", call.Op, maxCallBytes)
	}
	if err := k.wire.send(f); err != nil {
		return nil, err
	}
	_, reply, err := k.wire.receive(&replySizes)
	if err != nil {
		return nil, err
	}
	status := reply.number()
	if status == outcomeHalted {
		return nil, errHalted
	}
	data := reply.data()
	if err := reply.end(); err != nil {
		return nil, err
	}
	if status == outcomeOutput {
		return data, nil
	}
	fault := &abi.Fault{}
	if err := json.Unmarshal(data, fault); err != nil {
		return nil, fmt.Errorf("read a fault: %w", err)
	}
	return nil, fault
}

// log sends a log line, up to those that the host takes.
func (k *worker) log(level abi.Level, text string) error {
	if k.lines > k.limits.LogLines || k.bytes > k.limits.LogBytes {
		return nil // the line that was too much has been sent, and says so to the host
	}
	if len(text) > maxLogBytes-64 {
		text = strings.ToValidUTF8(text[:maxLogBytes-64], "")
	}
	k.lines, k.bytes = k.lines+1, k.bytes+len(text)
	return k.wire.send(k.wire.frame(kindLog).text(string(level)).text(text))
}
