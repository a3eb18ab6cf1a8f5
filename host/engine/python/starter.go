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

// starter runs the top level of a tool once for all runs, where it is the same for each.
type starter struct {
	program *program

	turn    chan struct{}   // holds an element while somebody has what follows
	tried   bool            // by the first run
	started *snapshot.Image // the interpreter after the top level ran; nil where each run does that
	early   []abi.LogLine   // what it logged
	varies  string          // what it asks for that is another in each run, which is why each run does it

	place atomic.Pointer[string] // where it does, "" where nobody saw; nil until a run has watched
}

func newStarter(p *program) *starter { return &starter{program: p, turn: make(chan struct{}, 1)} }

// image returns the interpreter after the top level ran, which the first run sees to; nil where each run has to. What
// the top level logged is logged in each run, as if it had run there.
func (s *starter) image(r *run) (*snapshot.Image, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-r.ctx.Done():
		return nil, engine.EndOf(r.ctx)
	}
	if !s.tried && s.program.loaded != nil {
		if err := s.try(r); err != nil {
			return nil, err
		}
	}
	for _, line := range s.early {
		if err := r.log(line.Level, line.Text); err != nil {
			return nil, err
		}
	}
	return s.started, nil
}

// try runs the top level for nobody. Where it fails, or asks for what is another in each run, each run does it and
// hears of it. The error is that of the end of the run.
func (s *starter) try(r *run) error {
	var w witness
	top := newRun(r.ctx, r.in, engine.Host{}, w.sources())
	defer top.close()
	err := top.perform(s.program, s.program.loaded, top.startRequest(false, false))
	if r.ctx.Err() != nil {
		return engine.EndOf(r.ctx)
	}
	s.tried = true
	var told struct {
		Random  bool `json:"random"`
		Environ bool `json:"environ"`
	}
	if err != nil || top.outcome.verb != "done" || json.Unmarshal(top.outcome.rest, &told) != nil {
		return nil
	}
	if told.Environ { // like one that reads env
		return nil
	}
	if s.varies = w.asked(told.Random); s.varies != "" {
		return nil
	}
	if s.started, err = top.instance.Capture(); err == nil {
		s.early = top.early
	}
	return err
}

// toWatch reports whether a run that runs the top level is to find out where it asks for what is another in each run. It
// is not for try: the top level is run often enough.
func (s *starter) toWatch() bool { return s.varies != "" && s.place.Load() == nil }

// warn tells the author, after the top level ran for a run, why it did.
func (s *starter) warn(r *run) {
	if s.varies == "" {
		return
	}
	var told struct {
		Place string `json:"place"`
	}
	if s.toWatch() && json.Unmarshal(r.done, &told) == nil {
		s.place.Store(&told.Place)
	}
	where := ""
	if place := s.place.Load(); place != nil && *place != "" {
		where = " in " + cut([]byte(*place), maxNameBytes)
	}
	r.warnings = append(r.warnings, fmt.Sprintf("the top level of the tool asks for %s%s, so it runs again in each run; do that in the entry", s.varies, where))
}

// witness notes what a top level asks for.
type witness struct{ time, random bool }

func (w *witness) sources() machine.Sources {
	return machine.Sources{
		Walltime: func() time.Time { w.time = true; return time.Now() },
		Nanotime: func() int64 { w.time = true; return machine.Nanotime() },
		Random:   w,
	}
}

// Read answers with random bytes.
func (w *witness) Read(p []byte) (int, error) {
	w.random = true
	return rand.Read(p)
}

func (w *witness) asked(random bool) string {
	if w.time {
		return "the time"
	}
	if w.random || random {
		return "random numbers"
	}
	return ""
}
