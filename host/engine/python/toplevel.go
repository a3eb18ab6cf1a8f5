package python

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// topLevel runs the top level of a tool once for all runs, if its result is the same in every run.
type topLevel struct {
	program *program

	lock    chan struct{}   // a mutex; guards the fields from tried to varies
	tried   bool            // true if a run has tried to run the top level once for all runs
	started *snapshot.Image // captured after the top level ran, or nil
	early   []abi.LogLine   // the lines that the top level logged
	varies  string          // the varying value that the top level used, or ""

	// location contains the source line that uses the varying value. Before a run has searched for
	// the line, location is nil. If the search fails, location contains "".
	location atomic.Pointer[string]
}

func newTopLevel(p *program) *topLevel {
	return &topLevel{program: p, lock: make(chan struct{}, 1)}
}

// image returns the snapshot that was captured after the top level ran. If each run has to execute
// the top level itself, the method returns nil. The first call to the method runs the top level.
// The lines that the top level logs appear in the log of each run, although only the first run
// executed the top level.
func (l *topLevel) image(r *run) (*snapshot.Image, error) {
	ctx := r.channel.ctx
	select {
	case l.lock <- struct{}{}:
		defer func() { <-l.lock }()
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
	if !l.tried && l.program.loaded != nil {
		if err := l.try(r); err != nil {
			return nil, err
		}
	}
	for _, line := range l.early {
		if err := r.log(line.Level, line.Text); err != nil {
			return nil, err
		}
	}
	return l.started, nil
}

// try runs the top level once for all runs. If the top level fails, or if it uses a value that
// differs between runs, then each run executes the top level itself and reports the errors. The
// method returns an error only if the context of r ends or the host fails.
func (l *topLevel) try(r *run) error {
	ctx := r.channel.ctx
	var probe inputProbe
	top := newRun(ctx, r.in, engine.Host{}, probe.sources())
	defer top.close()
	err := top.perform(l.program, l.program.loaded, top.startRequest(false, false))
	if ctx.Err() != nil {
		return engine.FaultFromContext(ctx)
	}
	l.tried = true
	var report struct {
		Random  bool `json:"random"`
		Environ bool `json:"environ"`
	}
	outcome := top.channel.outcome
	if err != nil || outcome.verb != "done" || json.Unmarshal(outcome.rest, &report) != nil {
		return nil
	}
	if report.Environ { // the environment variables can differ between runs
		return nil
	}
	if l.varies = probe.used(report.Random); l.varies != "" {
		return nil
	}
	if l.started, err = top.instance.Capture(); err == nil {
		l.early = top.early
	}
	return err
}

// toWatch reports whether the next execution of the top level must find the line that uses the
// varying value. The method "try" does not find the line, because a later execution can find the
// line at no extra cost.
func (l *topLevel) toWatch() bool { return l.varies != "" && l.location.Load() == nil }

// warn adds a warning to a run that had to execute the top level itself. The warning contains the
// reason why the top level could not run once for all runs.
func (l *topLevel) warn(r *run) {
	if l.varies == "" {
		return
	}
	var report struct {
		Location string `json:"location"`
	}
	if l.toWatch() && json.Unmarshal(r.channel.done, &report) == nil {
		l.location.Store(&report.Location)
	}
	in := ""
	if location := l.location.Load(); location != nil && *location != "" {
		in = " in " + cut([]byte(*location), maxNameBytes)
	}
	r.warnings = append(r.warnings, fmt.Sprintf("the top level of the tool uses %s%s, so every run executes it again; move this code into the entry function", l.varies, in))
}

// inputProbe records whether a top level uses the time or random numbers.
type inputProbe struct{ time, random bool }

func (p *inputProbe) sources() machine.Sources {
	return machine.Sources{
		Walltime: func() time.Time { p.time = true; return time.Now() },
		Nanotime: func() int64 { p.time = true; return machine.Nanotime() },
		Random:   p,
	}
}

// Read fills the buffer with random bytes and records the use.
func (p *inputProbe) Read(buffer []byte) (int, error) {
	p.random = true
	return rand.Read(buffer)
}

// used returns a description of the varying value that the top level used. If the top level used no
// such value, the method returns "". The argument "random" is true if the guest used one of
// Python's own random number generators.
func (p *inputProbe) used(random bool) string {
	if p.time {
		return "the time"
	}
	if p.random || random {
		return "random numbers"
	}
	return ""
}
