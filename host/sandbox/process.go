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

// process is a cell as its parent sees it. It is used by one goroutine at a time, but kill may be called by any.
type process struct {
	process *os.Process
	wire    *wire
	link    *link
	ends    []*os.File // the parent's ends of the pipes: to the cell, from it, and what it writes to standard error
	report  Report

	source   string // the domain of the sources that it has compiled
	loaded   bool   // it has compiled one
	domain   string // the domain that its runs are for
	entered  bool   // it has run one
	waited   bool   // it was there before it was asked, and has not said anything since
	outfit   outfit
	programs map[*program]bool
	runs     int
	entry    time.Time     // of the first run
	worked   time.Duration // its processor time when its last run was over

	data     uint64 // its limit of memory, as set last
	baseline uint64 // the memory that it has without a guest
	resting  uint64 // what of it is resident
	most     uint64 // the limit of memory that its own cannot be above

	kept *keptLimit // of what it writes; nil where it writes nothing

	statm *os.File // where the kernel tells its memory; nil until it is first read
	tasks *os.File // where the kernel counts its threads; nil until they are first counted
	group *group   // its control group; nil for none

	buried bool             // it has been waited for:
	state  *os.ProcessState // how it ended
	words  string           // its last words

	mu   sync.Mutex
	dead bool // it was killed
}

// stderrBytes is up to how much of a dying cell's last words are read.
const stderrBytes = 64 << 10

// startTimeout is how long a cell may take until it is ready. It takes some milliseconds; a machine that is busy with
// other things gets a while.
const startTimeout = 20 * time.Second

// spawn starts a process whose standard input and output are the wire. The caller is on the thread of the pool.
func spawn(command, argument0 string, s setting, without []string) (*process, error) {
	theirIn, toCell, err1 := blockingPipe()
	fromCell, theirOut, err2 := blockingPipe()
	lastWords, theirErr, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll([]*os.File{theirIn, toCell, fromCell, theirOut, lastWords, theirErr})
		return nil, fmt.Errorf("start a cell: %w", err)
	}
	pidfd := -1
	started, err := os.StartProcess(command, []string{argument0, argument1, argument2}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{theirIn, theirOut, theirErr}, Sys: attributes(s, without, &pidfd),
	})
	closeAll([]*os.File{theirIn, theirOut, theirErr})
	ends := []*os.File{toCell, fromCell, lastWords}
	if err != nil {
		closeAll(ends)
		return nil, fmt.Errorf("start a cell: %w", err)
	}
	l, err := newLink(fromCell, toCell, pidfd)
	c := &process{group: s.group, process: started, wire: newWire(l, l), link: l, ends: ends, programs: map[*program]bool{}}
	if err == nil {
		err = s.group.add(started.Pid)
	}
	if err != nil {
		c.bury()
		return nil, fmt.Errorf("start a cell: %w", err)
	}
	return c, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // of nil is an error too
	}
}

// helloSizes are what the parent takes in while a cell starts.
var helloSizes = sizes{kindHello: 64 << 10}

// greet tells a new process how to be a cell, and learns how it locked itself down.
func (c *process) greet(h hello) error {
	timer := time.AfterFunc(startTimeout, c.kill)
	defer timer.Stop()
	h.write(c.wire.frame(kindHello))
	if err := c.wire.send(&c.wire.writing); err != nil {
		return fmt.Errorf("greet a cell: %w", err)
	}
	_, f, err := c.wire.receive(&helloSizes)
	if err != nil {
		return fmt.Errorf("wait for a cell to be ready: %w", err)
	}
	var answer hello
	answer.read(f)
	if err := f.end(); err != nil {
		return fmt.Errorf("read how a cell is: %w", err)
	}
	if answer.version != version || answer.build != h.build || answer.key != h.key {
		return fmt.Errorf("the cell's program is another version of toolrun: %q, and this is %q", answer.build, h.build)
	}
	c.report = Report{Layers: answer.layers}
	return nil
}

// kill ends the process at once. It may be called by any goroutine, at any time and more than once.
func (c *process) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.dead = true
		killAll(c.process)
	}
}

// alive reports whether nobody has killed it.
func (c *process) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.dead
}

// discard ends a cell that is not needed any more.
func (c *process) discard() { c.bury() }

// bury ends the process, waits for its end and returns how it ended and its last words.
func (c *process) bury() (*os.ProcessState, string) {
	if c.buried {
		return c.state, c.words
	}
	c.buried = true
	c.kill()
	c.state, _ = c.process.Wait() // a child that was started here can be waited for
	c.words = c.lastWords()
	c.link.close()
	closeAll(append(c.ends, c.statm, c.tasks))
	c.group.remove()
	return c.state, c.words
}

// lastWords is what the dead process wrote to standard error. Nobody writes to the pipe any more, so that it ends.
func (c *process) lastWords() string {
	var words bytes.Buffer
	_ = c.ends[2].SetReadDeadline(time.Now().Add(time.Second)) // unless somebody else holds it
	_, _ = io.Copy(&words, io.LimitReader(c.ends[2], stderrBytes))
	return words.String()
}

// complete adds to a report what the parent knows, once the cell is ready.
func (c *process) complete(s setting, without []string) {
	for _, l := range parentLayers(c, s) {
		if slices.Contains(without, l.Name) {
			l.On, l.Detail = false, errLeftOut.Error()
		}
		c.report.Layers = append(c.report.Layers, l)
	}
	c.report.sort()
}
