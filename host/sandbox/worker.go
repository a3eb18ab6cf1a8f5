package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// process is a worker as its parent sees it. It is used by one goroutine at a time, but kill may be called by any.
type worker struct {
	process *os.Process
	wire    *wire
	pipe    *pipe
	ends    []*os.File // the parent's ends of the pipes: to the worker, from it, and what it writes to standard error
	report  Report

	sourceDomain string // the domain of the sources that it has compiled
	loaded       bool   // it has compiled one
	runDomain    string // the domain that its runs are for
	used         bool   // it has run one
	unproven     bool   // it was there before it was asked, and has not said anything since
	mounts       mounts
	programs     map[*program]bool
	runs         int
	firstRun     time.Time     // of the first run
	cpuAtRelease time.Duration // its processor time when its last run was over

	memoryLimit      uint64 // its limit of memory, as set last
	baseline         uint64 // the memory that it has without a guest
	residentBaseline uint64 // what of it is resident
	maxMemory        uint64 // the limit of memory that its own cannot be above

	writes *writeLimit // of what it writes; nil where it writes nothing

	statm *os.File // where the kernel tells its memory; nil until it is first read
	tasks *os.File // where the kernel counts its threads; nil until they are first counted
	group *group   // its control group; nil for none

	reaped bool             // it has been waited for:
	state  *os.ProcessState // how it ended
	stderr string           // its last words

	mu   sync.Mutex
	dead bool // it was killed
}

// stderrBytes is up to how much of a dying worker's last words are read.
const maxStderrBytes = 64 << 10

// startTimeout is how long a worker may take until it is ready. It takes some milliseconds; a machine that is busy with
// other things gets a while.
const startTimeout = 20 * time.Second

// spawn starts a process whose standard input and output are the wire. The caller is on the thread of the pool.
func spawn(command, argument0 string, s spawnConfig, without []string) (*worker, error) {
	theirIn, toCell, err1 := blockingPipe()
	fromCell, theirOut, err2 := blockingPipe()
	stderr, theirErr, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll([]*os.File{theirIn, toCell, fromCell, theirOut, stderr, theirErr})
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	pidfd := -1
	started, err := os.StartProcess(command, []string{argument0, workerCommand, workerFlag}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{theirIn, theirOut, theirErr}, Sys: procAttributes(s, without, &pidfd),
	})
	closeAll([]*os.File{theirIn, theirOut, theirErr})
	ends := []*os.File{toCell, fromCell, stderr}
	if err != nil {
		closeAll(ends)
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	l, err := newPipe(fromCell, toCell, pidfd)
	w := &worker{group: s.group, process: started, wire: newWire(l, l), pipe: l, ends: ends, programs: map[*program]bool{}}
	if err == nil {
		err = s.group.add(started.Pid)
	}
	if err != nil {
		w.reap()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return w, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // of nil is an error too
	}
}

// helloSizes are what the parent takes in while a worker starts.
var handshakeSizes = sizes{kindHandshake: 64 << 10}

// greet tells a new process how to be a worker, and learns how it locked itself down.
func (w *worker) handshake(h handshake) error {
	timer := time.AfterFunc(startTimeout, w.kill)
	defer timer.Stop()
	h.write(w.wire.frame(kindHandshake))
	if err := w.wire.send(&w.wire.writing); err != nil {
		return fmt.Errorf("greet a worker: %w", err)
	}
	_, f, err := w.wire.receive(&handshakeSizes)
	if err != nil {
		return fmt.Errorf("wait for a worker to be ready: %w", err)
	}
	var answer handshake
	answer.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read how a worker is: %w", err)
	}
	if answer.version != version || answer.build != h.build || answer.key != h.key {
		return fmt.Errorf("the worker's program is another version of toolrun: %q, and this is %q", answer.build, h.build)
	}
	w.report = Report{Layers: answer.layers}
	return nil
}

// kill ends the process at once. It may be called by any goroutine, at any time and more than once.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dead {
		w.dead = true
		killAll(w.process)
	}
}

// alive reports whether nobody has killed it.
func (w *worker) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.dead
}

// discard ends a worker that is not needed any more.
func (w *worker) stop() { w.reap() }

// bury ends the process, waits for its end and returns how it ended and its last words.
func (w *worker) reap() (*os.ProcessState, string) {
	if w.reaped {
		return w.state, w.stderr
	}
	w.reaped = true
	w.kill()
	w.state, _ = w.process.Wait() // a child that was started here can be waited for
	w.stderr = w.readStderr()
	w.pipe.close()
	closeAll(append(w.ends, w.statm, w.tasks))
	w.group.remove()
	return w.state, w.stderr
}

// lastWords is what the dead process wrote to standard error. Nobody writes to the pipe any more, so that it ends.
func (w *worker) readStderr() string {
	var stderr bytes.Buffer
	_ = w.ends[2].SetReadDeadline(time.Now().Add(time.Second)) // unless somebody else holds it
	_, _ = io.Copy(&stderr, io.LimitReader(w.ends[2], maxStderrBytes))
	return stderr.String()
}

// complete adds to a report what the parent knows, once the worker is ready.
func (w *worker) addParentLayers(s spawnConfig, without []string) {
	for _, l := range parentLayers(w, s) {
		if slices.Contains(without, l.Name) {
			l.On, l.Detail = false, errDisabled.Error()
		}
		w.report.Layers = append(w.report.Layers, l)
	}
	w.report.sort()
}
