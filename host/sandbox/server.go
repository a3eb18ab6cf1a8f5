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

// server handles requests in a worker process. One goroutine handles the requests one after the
// other, but engines can start more goroutines.
type server struct {
	wire     *wire
	engines  map[string]func(key string) engine.Engine
	programs map[uint64]engine.Program
	folder   string       // the path at which this process can open the compiled code
	prepare  func() error // the function that prepares the shared state of the language; nil for other jobs
	fileMu   sync.Mutex   // one file request at a time; a bundler opens files on many goroutines

	host   engine.Host
	limits engine.Limits // the limits of the active run
	lines  int           // the number of log lines sent
	bytes  int           // the total size of the log lines sent
	begun  uint64        // the number of external operations that the guest began
	memory int64         // the memory limit of the garbage collector
	used   int64         // the memory use without a guest

	parent      int         // the process ID of the parent
	running     atomic.Bool // true while a guest runs
	orphanTimer *time.Timer // calls checkParent
}

func newServer(w *wire, languages []Language, parent handshake) *server {
	s := &server{wire: w, engines: map[string]func(string) engine.Engine{}, programs: map[uint64]engine.Program{}}
	s.parent, s.orphanTimer = os.Getppid(), time.AfterFunc(orphanInterval, func() { s.checkParent() })
	s.folder = parent.mounts.folder
	s.host = engine.Host{Call: s.call, Log: s.log}
	for _, l := range languages {
		s.add(l, parent)
	}
	return s
}

// add creates the engine of a language. If the language has shared state, the method starts the
// engine with the shared state.
func (s *server) add(l Language, parent handshake) {
	e, o := l.New(Setup{Panicked: logPanic}), parent.mounts
	switch name := e.Info().Name; {
	case l.Shared == nil || o.language != name:
	case parent.job == jobPrepare:
		s.prepare = func() error {
			var files []string
			for _, name := range parent.files {
				files = append(files, filepath.Join(s.folder, name))
			}
			return l.Shared.Prepare(context.Background(), Setup{Panicked: logPanic, Files: files, CacheDir: filepath.Join(s.folder, freshKey)})
		}
	default:
		e = l.New(Setup{Panicked: logPanic, CacheDir: o.shared})
		l.Shared.Start(context.Background(), e)
	}
	s.engines[e.Info().Name] = func(key string) engine.Engine {
		if key == "" || s.folder == "" {
			return e
		}
		return l.New(Setup{Panicked: logPanic, CacheDir: filepath.Join(s.folder, key)})
	}
}

// prepareShared prepares the shared state of a language.
func (s *server) prepareShared() error {
	if s.prepare == nil {
		return errors.New("the worker has no language to prepare")
	}
	status, body := uint64(outcomeOutput), []byte(nil)
	if err := s.prepare(); err != nil {
		status, body = encodeError(err)
	}
	return s.wire.send(s.wire.frame(kindLoaded).number(status).data(body).data(nil))
}

// logPanic writes a panic to standard error. After an internal fault, the parent logs the worker's
// standard error.
func logPanic(value any, stack []byte) { fmt.Fprintf(os.Stderr, "panic: %v\n%s\n", value, stack) }

// workSizes contains the size limits of the frames that a worker can receive while no guest runs.
var workSizes = sizes{kindLoad: maxSourceBytes + 1<<20, kindRun: maxRunBytes + 1<<10, kindPrepare: 1}

// serve handles requests until the parent closes the pipe.
func (s *server) serve() error {
	for {
		kind, f, err := s.wire.receive(&workSizes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case kindLoad:
			err = s.load(f)
		case kindPrepare:
			err = s.prepareShared()
		default:
			err = s.run(f)
		}
		if err != nil {
			return err
		}
	}
}

// load compiles a source.
func (s *server) load(f *fields) error {
	id, name, operations, key := f.number(), f.text(), f.data(), f.text()
	src := engine.Source{Path: f.text(), Entry: f.text()}
	if f.number() == 1 {
		src.Files = &remoteFS{server: s, known: map[string]*remoteFile{}}
	}
	src.Review = f.number() == 1
	src.Params, src.Code = f.texts(maxParams), f.data()
	if err := f.end(); err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	if err := json.Unmarshal(operations, &src.Operations); err != nil {
		return fmt.Errorf("read operations: %w", err)
	}
	newEngine := s.engines[name]
	if newEngine == nil {
		return fmt.Errorf("the worker has no engine %q", name)
	}
	program, err := newEngine(key).Load(context.Background(), src)
	status, body, review := uint64(outcomeOutput), []byte(nil), []byte(nil)
	if err != nil {
		status, body = encodeError(err)
	} else {
		s.programs[id] = program
		review = reviewOf(program, src)
	}
	s.setBaseline()
	return s.wire.send(s.wire.frame(kindLoaded).number(status).data(body).data(review))
}

// reviewOf returns the review of a source as JSON, or nil if no review was requested.
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

// setBaseline records the memory use of the worker after a compilation, because this memory is not
// charged to a guest.
func (s *server) setBaseline() {
	debug.FreeOSMemory()
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(total)
	s.used, s.memory = int64(total[0].Value.Uint64()-total[1].Value.Uint64()), 0
}

// encodeError returns the status and the body that represent err.
func encodeError(err error) (status uint64, body []byte) {
	if errors.Is(err, errHalted) {
		return outcomeHalted, nil
	}
	fault, ok := err.(*abi.Fault)
	if !ok {
		return outcomeBroken, []byte(truncate(err.Error()))
	}
	body, err = json.Marshal(fault)
	if err != nil || len(body) > maxFaultBytes-1<<10 {
		short := abi.Faultf(fault.Code, "%s", truncate(fault.Message))
		short.ID = truncate(fault.ID)
		body, _ = json.Marshal(short) // encoding cannot fail, because all fields are strings
	}
	return outcomeFault, body
}

// truncate returns the beginning of a long text.
func truncate(text string) string {
	const limit = 4 << 10
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// run executes a program once.
func (s *server) run(f *fields) error {
	program := s.programs[f.number()]
	in, left := readInput(f)
	host := s.host
	if f.number() == 1 {
		host.Begin, host.Await = s.begin, s.await
	}
	if err := f.end(); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if program == nil {
		return errors.New("the program is not loaded in this worker")
	}
	s.limits, s.lines, s.bytes, s.begun = in.Limits, 0, 0, 0
	s.limitMemory(in.Limits.MemoryBytes)
	ctx := context.Background()
	if left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	s.running.Store(true)
	s.orphanTimer.Reset(orphanInterval)
	defer func() {
		s.running.Store(false)
		s.orphanTimer.Stop()
	}()
	out, err := program.Run(ctx, in, host)
	return s.answer(out, err)
}

// orphanInterval is the time between two calls of checkParent during a run.
const orphanInterval = time.Second

// checkParent ends this process if the parent process has exited. Some kernels kill orphans, but
// others do not, so the check is necessary. While a guest runs, a worker does not read its input,
// so it does not detect that the parent has closed the pipe.
func (s *server) checkParent() {
	if os.Getppid() != s.parent {
		os.Exit(1)
	}
	if s.running.Load() {
		s.orphanTimer.Reset(orphanInterval)
	}
}

// limitMemory sets the memory limit of the garbage collector. If the memory use is near the limit,
// the garbage collector runs more often, so that the kernel does not have to deny memory.
func (s *server) limitMemory(bytes int64) {
	const minBytes = 4 << 20 // with a lower limit, the garbage collector would use all processor time
	if bytes = max(bytes, minBytes); s.memory != bytes {
		s.memory = bytes
		debug.SetMemoryLimit(s.used + bytes)
	}
}

// answer sends the result of a run.
func (s *server) answer(out engine.Output, err error) error {
	status, body := uint64(outcomeOutput), []byte(nil)
	if err != nil {
		status, body = encodeError(err)
	}
	f := s.wire.frame(kindOutcome).number(status).number(uint64(max(out.MemoryBytes, 0)))
	f.data(out.Output).optional(out.Context).data(body).texts(firstWarnings(out.Warnings))
	return s.wire.send(f)
}

// firstWarnings returns the first warnings, up to the limits on their number and size.
func firstWarnings(warnings []string) []string {
	size := 0
	for i, w := range warnings {
		if size += len(w) + 10; i == maxWarnings || size > maxWarningBytes {
			return warnings[:i]
		}
	}
	return warnings
}

// errHalted is the error of a run that the host ended. The worker does not receive the error of the
// host.
var errHalted = errors.New("the host ended the run")

// replySizes contains the frame size limits for the reply to a memory call. fileSizes contains the
// limits for the reply to a file request.
var (
	replySizes = sizes{kindReply: 256 << 20}
	fileSizes  = sizes{kindFile: maxFileBytes + 16<<20}
)

// call sends a memory call to the parent and returns the reply.
func (s *server) call(_ context.Context, call abi.Call) (json.RawMessage, error) {
	f := s.wire.frame(kindCall)
	writeCall(f, call)
	if len(f.bytes)-headBytes > maxCallBytes {
		return nil, abi.Faultf(abi.TooLarge, "the arguments of %s exceed %d bytes", call.Op, maxCallBytes)
	}
	if err := s.wire.send(f); err != nil {
		return nil, err
	}
	_, reply, err := s.wire.receive(&replySizes)
	if err != nil {
		return nil, err
	}
	return readReply(reply)
}

// writeCall writes an operation of the guest.
func writeCall(f *frame, call abi.Call) {
	f.text(call.Op).number(uint64(len(call.Args)))
	for _, arg := range call.Args {
		f.optional(arg)
	}
}

// readReply reads the reply to an operation.
func readReply(reply *fields) (json.RawMessage, error) {
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
		return nil, fmt.Errorf("read fault: %w", err)
	}
	return nil, fault
}

// log sends a log line unless the run has exceeded its limits on log lines.
func (s *server) log(level abi.Level, text string) error {
	if s.lines > s.limits.LogLines || s.bytes > s.limits.LogBytes {
		return nil // the worker has sent the line that exceeded the limit, so the host detects the excess
	}
	if len(text) > maxLogBytes-64 {
		text = strings.ToValidUTF8(text[:maxLogBytes-64], "")
	}
	s.lines, s.bytes = s.lines+1, s.bytes+len(text)
	return s.wire.send(s.wire.frame(kindLog).text(string(level)).text(text))
}
