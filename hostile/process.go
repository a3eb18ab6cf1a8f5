package main

import (
	"bytes"
	"errors"
	"os/exec"
	"sync"
	"time"
)

// What a process may do before it is killed. A machine that is short of memory would kill it; here it is killed at a
// gibibyte, which is an end like any other.
const (
	maxResident  = 1 << 30
	maxOutput    = 8 << 20
	lookEvery    = 5 * time.Millisecond
	strayPatient = 2 * time.Second
)

// The ways in which a process can end that are not its own.
const (
	ownEnd   = ""
	hung     = "hung"
	outgrown = "died: out of memory"
)

// ended is what a process left behind.
type ended struct {
	Exit   int           // its exit code, -1 where a signal ended it
	Killed string        // why it was killed, "" where it ended by itself
	Took   time.Duration // from its start to its end
	Peak   int64         // the most memory that was resident, in bytes, of the process alone
	stdout []byte
	stderr []byte
}

// processes are the children of this process. It is safe for concurrent use.
type processes struct {
	mu    sync.Mutex
	known map[int]bool
}

// execute runs a command until it ends, or until it took too long or too much memory.
func (p *processes) execute(cmd *exec.Cmd, patience time.Duration) (done ended, err error) {
	out, errs := &capped{}, &capped{}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second // what it leaves behind may hold its output open
	began := time.Now()
	if err := p.start(cmd); err != nil {
		return done, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	done.Killed, done.Peak, err = p.watch(cmd, exited, began.Add(patience))
	done.Took = time.Since(began)
	p.forget(cmd.Process.Pid)
	done.stdout, done.stderr = out.Bytes(), errs.Bytes()
	if _, exit := errors.AsType[*exec.ExitError](err); exit || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	done.Exit = cmd.ProcessState.ExitCode()
	return done, err
}

func (p *processes) watch(cmd *exec.Cmd, exited <-chan error, until time.Time) (killed string, peak int64, err error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-exited:
			return killed, peak, err
		case <-tick.C:
		}
		now, most := resident(cmd.Process.Pid)
		peak = max(peak, most)
		switch {
		case killed != ownEnd:
			continue
		case now > maxResident:
			killed = outgrown
		case time.Now().After(until):
			killed = hung
		default:
			continue
		}
		_ = cmd.Process.Kill() // it may have ended by itself meanwhile
	}
}

func (p *processes) start(cmd *exec.Cmd) error {
	p.mu.Lock() // a child must be known before anyone looks for strays
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if p.known == nil {
		p.known = map[int]bool{}
	}
	p.known[cmd.Process.Pid] = true
	return nil
}

func (p *processes) forget(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, pid)
}

// strays counts the processes that outlived the one that started them, which have a while to end, and kills them.
func (p *processes) strays() int {
	for until := time.Now().Add(strayPatient); ; time.Sleep(lookEvery) {
		p.mu.Lock()
		left := orphans(p.known)
		p.mu.Unlock()
		if len(left) == 0 || time.Now().After(until) {
			for _, pid := range left {
				kill(pid)
			}
			return len(left)
		}
	}
}

// capped keeps the beginning of what is written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(text []byte) (int, error) {
	if room := maxOutput - c.Len(); room > 0 {
		_, _ = c.Buffer.Write(text[:min(room, len(text))]) // never fails
	}
	return len(text), nil
}
