package main

import (
	"bytes"
	"errors"
	"os/exec"
	"sync"
	"time"
)

// The following limits determine when a process is killed. The memory limit of 1 GiB represents a
// small machine. On a small machine, the kernel would kill a larger process.
const (
	maxResident  = 1 << 30
	maxOutput    = 8 << 20
	pollInterval = 5 * time.Millisecond
	strayTimeout = 2 * time.Second
)

// The following constants are reasons for killing a process.
const (
	ownExit  = ""
	hung     = "hung"
	outgrown = "died: out of memory"
)

// exit describes how a process ended.
type exit struct {
	Exit     int           // the exit code, or -1 after a signal
	Killed   string        // why the process was killed, or "" if it was not killed
	Duration time.Duration // the time from the start to the end of the process
	Peak     int64         // the peak resident memory in bytes, without child processes
	stdout   []byte
	stderr   []byte
}

// processes tracks the children of this process, and is safe for concurrent use.
type processes struct {
	mu    sync.Mutex
	known map[int]bool
}

// execute runs a command until the command ends. If the command exceeds its time limit or memory
// limit, the method kills it.
func (p *processes) execute(cmd *exec.Cmd, timeout time.Duration) (done exit, err error) {
	out, errs := &capped{}, &capped{}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second // child processes can keep the command's output open
	began := time.Now()
	if err := p.start(cmd); err != nil {
		return done, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	done.Killed, done.Peak, err = p.watch(cmd, exited, began.Add(timeout))
	done.Duration = time.Since(began)
	p.forget(cmd.Process.Pid)
	done.stdout, done.stderr = out.Bytes(), errs.Bytes()
	if _, exit := errors.AsType[*exec.ExitError](err); exit || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	done.Exit = cmd.ProcessState.ExitCode()
	return done, err
}

func (p *processes) watch(cmd *exec.Cmd, exited <-chan error, until time.Time) (killed string, peak int64, err error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-exited:
			return killed, peak, err
		case <-tick.C:
		}
		now, highest := resident(cmd.Process.Pid)
		peak = max(peak, highest)
		switch {
		case killed != ownExit:
			continue
		case now > maxResident:
			killed = outgrown
		case time.Now().After(until):
			killed = hung
		default:
			continue
		}
		_ = cmd.Process.Kill() // killing fails if the process has already exited
	}
}

func (p *processes) start(cmd *exec.Cmd) error {
	p.mu.Lock() // the method "strays" must not find the child before the child is registered
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

// strays kills the processes that have outlived their parent, and returns the number of killed
// processes. Before a process is killed, the method gives the process some time to exit.
func (p *processes) strays() int {
	for until := time.Now().Add(strayTimeout); ; time.Sleep(pollInterval) {
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

// capped is a writer that keeps only the first bytes and drops the remaining bytes.
type capped struct{ bytes.Buffer }

func (c *capped) Write(text []byte) (int, error) {
	if room := maxOutput - c.Len(); room > 0 {
		_, _ = c.Buffer.Write(text[:min(room, len(text))]) // never fails
	}
	return len(text), nil
}
