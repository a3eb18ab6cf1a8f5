package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/hostile/baseline"
	"github.com/toolrun/toolrun/hostile/corpus"
)

// runner runs the cases, some at once, each worker on a database of its own.
type runner struct {
	world         *world
	workers       int
	walled, naive bool
	skipWall      bool // the cases that need a wall are not run with toolrun
}

// without is a runner of the same cases with a layer of the wall left out. What a case is answered may be another
// answer then; what happens to the host and to memory may not.
func (r runner) without(layer string) *runner {
	world := *r.world
	world.flags = append(slices.Clip(world.flags), "--without", layer)
	world.anyAnswer = true
	r.world = &world
	return &r
}

// outcome is a case with what became of it.
type outcome struct {
	Name      string        `json:"name"`
	Mechanism string        `json:"mechanism"`
	Want      string        `json:"want"`
	Deadline  time.Duration `json:"deadline_ns"`
	Wall      bool          `json:"needs_wall"`
	Walled    *Walled       `json:"walled,omitempty"`
	Naive     baseline.End  `json:"naive,omitempty"`
}

func (r *runner) run(ctx context.Context, cases []corpus.Case) (*Report, error) {
	began := time.Now()
	report := &Report{Cases: make([]outcome, len(cases)), Checked: r.walled}
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range cases {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	errs := make([]error, max(1, r.workers))
	var workers sync.WaitGroup
	for n := range errs {
		workers.Go(func() { errs[n] = r.work(ctx, n, next, cases, report.Cases) })
	}
	workers.Wait()
	for range next { // what is left where a worker failed
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if r.walled {
		left, err := r.killHost(ctx)
		if err != nil {
			return nil, err
		}
		report.KilledStrays = left
	}
	report.Took = time.Since(began)
	return report, ctx.Err()
}

func (r *runner) work(ctx context.Context, worker int, next <-chan int, cases []corpus.Case, into []outcome) error {
	db, err := r.world.database(worker)
	if err != nil {
		return err
	}
	for i := range next {
		if into[i], err = r.one(ctx, cases[i], db); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) one(ctx context.Context, c corpus.Case, db string) (o outcome, err error) {
	o = outcome{Name: c.Name, Mechanism: c.Mechanism, Want: c.Want.String(), Deadline: r.world.deadline(c), Wall: c.Wall}
	l, err := r.world.lay(c)
	if err != nil {
		return o, err
	}
	missing := c.Wall && r.skipWall || c.Python() && r.world.python == ""
	if r.walled && !missing {
		if o.Walled, err = r.world.walled(ctx, l, db); err != nil {
			return o, err
		}
	}
	if r.naive {
		o.Naive, err = r.world.bare(ctx, l)
	}
	return o, err
}

// bare runs a case with the naive host, in a process of its own.
func (w *world) bare(ctx context.Context, l laid) (baseline.End, error) {
	done, err := w.procs.execute(baseline.Command(ctx, w.self, l.Case, l.dir, l.input), baseline.Patience(l.Case))
	if err != nil {
		return baseline.None, fmt.Errorf("run %s with a naive host: %w", l.Name, err)
	}
	return baseline.Judge(done.Killed == hung, done.Killed != ownEnd, done.Exit, done.stdout), nil
}

// killHost kills toolrun in the midst of a run and counts the processes that are left.
func (r *runner) killHost(ctx context.Context) (int, error) {
	endless := corpus.Case{Name: "js/host/killed", Tool: "tool.js", Timeout: time.Minute,
		Files: []corpus.File{{Path: "tool.js", Data: []byte("for (;;);")}}}
	l, err := r.world.lay(endless)
	if err != nil {
		return 0, err
	}
	const midst = 300 * time.Millisecond
	cmd := exec.CommandContext(ctx, r.world.binary, l.command(r.world, "seed.db")...)
	cmd.Dir = l.dir
	if _, err := r.world.procs.execute(cmd, midst); err != nil {
		return 0, fmt.Errorf("kill toolrun in a run: %w", err)
	}
	return r.world.procs.strays(), nil
}
