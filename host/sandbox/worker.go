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

// worker is the parent's handle for a worker process. Only one goroutine can use a worker at a
// time, but the method "kill" is safe for concurrent use.
type worker struct {
	process *os.Process
	wire    *wire
	pipe    *pipe
	ends    []*os.File // the parent's ends of the pipes: standard input, output and error
	report  Report

	sourceDomain string // the domain of the compiled sources
	loaded       bool   // true if the worker has compiled a source
	runDomain    string // the domain of the worker's runs
	used         bool   // true if the worker has run a guest
	unproven     bool   // true if the worker was idle and has not sent a frame since then
	slotless     bool   // true if the run released its slot and ended without a slot
	mounts       mounts
	programs     map[*program]bool
	runs         int
	firstRun     time.Time     // the time of the first run
	cpuAtRelease time.Duration // the worker's processor time at its last release

	memoryLimit      uint64 // the current memory limit
	baseline         uint64 // the memory use without a guest
	residentBaseline uint64 // the resident memory without a guest
	maxMemory        uint64 // the highest memory limit that a run in this worker can have

	writes *writeLimit // nil if the worker writes no files

	statm *os.File // /proc/PID/statm, opened when first read
	tasks *os.File // /proc/PID/task, opened when first counted
	group *group   // the worker's control group, or nil

	reaped bool             // true when Wait has returned; Wait also sets the fields below
	state  *os.ProcessState // its exit state
	stderr string           // its standard error

	mu   sync.Mutex
	dead bool // it was killed
}

// maxStderrBytes is the maximum number of bytes to read from a worker's standard error after its
// exit.
const maxStderrBytes = 64 << 10

// startTimeout limits the time to start a worker. A worker usually starts within milliseconds, but
// the start can take longer on a busy machine.
const startTimeout = 20 * time.Second

// spawn starts a worker process and connects its standard input and output to a wire. Call spawn on
// the thread of the spawner.
func spawn(command, argument0 string, s spawnConfig, without []string) (*worker, error) {
	theirIn, toCell, err1 := blockingPipe()
	fromCell, theirOut, err2 := blockingPipe()
	stderr, theirErr, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll([]*os.File{theirIn, toCell, fromCell, theirOut, stderr, theirErr})
		return nil, fmt.Errorf("start worker: %w", err)
	}
	pidfd := -1
	started, err := os.StartProcess(command, []string{argument0, workerCommand, workerFlag}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{theirIn, theirOut, theirErr}, Sys: procAttributes(s, without, &pidfd),
	})
	closeAll([]*os.File{theirIn, theirOut, theirErr})
	ends := []*os.File{toCell, fromCell, stderr}
	if err != nil {
		closeAll(ends)
		return nil, fmt.Errorf("start worker: %w", err)
	}
	l, err := newPipe(fromCell, toCell, pidfd)
	w := &worker{group: s.group, process: started, wire: newWire(l, l), pipe: l, ends: ends, programs: map[*program]bool{}}
	if err == nil {
		err = s.group.add(started.Pid)
	}
	if err != nil {
		w.reap()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return w, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // Close of a nil file fails, which is harmless
	}
}

// handshakeSizes contains the frame size limits during the handshake.
var handshakeSizes = sizes{kindHandshake: 64 << 10}

// handshake configures a new worker and reads the worker's report of its isolation layers.
func (w *worker) handshake(h handshake) error {
	timer := time.AfterFunc(startTimeout, w.kill)
	defer timer.Stop()
	h.write(w.wire.frame(kindHandshake))
	if err := w.wire.send(&w.wire.writing); err != nil {
		return fmt.Errorf("send handshake to worker: %w", err)
	}
	_, f, err := w.wire.receive(&handshakeSizes)
	if err != nil {
		return fmt.Errorf("wait for worker: %w", err)
	}
	var answer handshake
	answer.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read worker handshake: %w", err)
	}
	if answer.version != version || answer.build != h.build || answer.key != h.key {
		return fmt.Errorf("the worker runs toolrun %q, but the parent runs toolrun %q", answer.build, h.build)
	}
	w.report = Report{Layers: answer.layers}
	return nil
}

// kill kills the process. The method is safe for concurrent use and can be called more than once.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dead {
		w.dead = true
		killAll(w.process)
	}
}

// alive returns true until the method "kill" is called.
func (w *worker) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.dead
}

// stop ends a worker that is no longer needed.
func (w *worker) stop() { w.reap() }

// reap kills the process, waits for its end, and returns the exit state and the standard error of
// the process.
func (w *worker) reap() (*os.ProcessState, string) {
	if w.reaped {
		return w.state, w.stderr
	}
	w.reaped = true
	w.kill()
	w.state, _ = w.process.Wait() // Wait cannot fail for a child process
	w.stderr = w.readStderr()
	w.pipe.close()
	closeAll(append(w.ends, w.statm, w.tasks))
	w.group.remove()
	return w.state, w.stderr
}

// readStderr returns the standard error of the dead process. The pipe no longer has a writer, so
// reading ends.
func (w *worker) readStderr() string {
	var stderr bytes.Buffer
	_ = w.ends[2].SetReadDeadline(time.Now().Add(time.Second)) // another process can have the pipe open
	_, _ = io.Copy(&stderr, io.LimitReader(w.ends[2], maxStderrBytes))
	return stderr.String()
}

// addParentLayers completes the report of a started worker. The worker does not report the layers
// that the parent applies.
func (w *worker) addParentLayers(s spawnConfig, without []string) {
	for _, l := range parentLayers(w, s) {
		if slices.Contains(without, l.Name) {
			l.On, l.Detail = false, errDisabled.Error()
		}
		w.report.Layers = append(w.report.Layers, l)
	}
	w.report.sort()
}
