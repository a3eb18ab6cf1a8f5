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

// topLevel runs the top level of a tool once for all runs, if the result is the same in every run.
type topLevel struct {
	program *program

	lock    chan struct{}   // a mutex that supports cancellation; guards the fields from tried to varies
	tried   bool            // true if a run has tried to run the top level for all runs
	started *snapshot.Image // the snapshot from after the top level ran; nil if each run has to run the top level
	early   []abi.LogLine   // the lines that the top level logged
	varies  string          // the varying value that the top level used, or ""

	// location is the source line that uses the varying value. location is "" if the line is
	// unknown, and nil until a run has searched for it.
	location atomic.Pointer[string]
}

func newTopLevel(p *program) *topLevel {
	return &topLevel{program: p, lock: make(chan struct{}, 1)}
}

// image returns the interpreter after the top level has run, or nil if each run has to run the top
// level. The first call to image runs the top level. The log of each run contains the lines that
// the top level has logged, although only the first run executed the top level.
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

// The method "try" runs the top level once for all runs. If the top level fails, or uses a value
// that differs between runs, then each run executes the top level itself and reports its errors.
// try returns an error only if the context of r ends or the host fails.
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

// toWatch reports whether the next run of the top level has to find the line that uses the varying
// value. The method "try" does not search for the line, because a later run of the top level can
// find the line at no extra cost.
func (l *topLevel) toWatch() bool { return l.varies != "" && l.location.Load() == nil }

// warn adds a warning to a run that had to run the top level. The warning contains the reason why
// the top level could not run once for all runs.
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

// Read fills buffer with random bytes.
func (p *inputProbe) Read(buffer []byte) (int, error) {
	p.random = true
	return rand.Read(buffer)
}

// The method "used" returns a description of the varying value that the top level used, or "". The
// argument "random" reports whether the guest used one of Python's own random number generators.
func (p *inputProbe) used(random bool) string {
	if p.time {
		return "the time"
	}
	if p.random || random {
		return "random numbers"
	}
	return ""
}
