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

// runner runs cases concurrently. Each worker uses a separate database.
type runner struct {
	env               *env
	workers           int
	toolrun, baseline bool
	skipIsolated      bool // the field is true if toolrun skips the cases that require isolated workers
}

// without returns a runner for the same cases. In the returned runner, one isolation layer is
// disabled. If a layer is disabled, the result of a case can be different, but the host must
// survive and stored data must not change.
func (r runner) without(layer string) *runner {
	env := *r.env
	env.flags = append(slices.Clip(env.flags), "--without", layer)
	env.anyAnswer = true
	r.env = &env
	return &r
}

// outcome contains a case and its results.
type outcome struct {
	Name           string         `json:"name"`
	Mechanism      string         `json:"mechanism"`
	Want           string         `json:"want"`
	Deadline       time.Duration  `json:"deadline_ns"`
	NeedsIsolation bool           `json:"needs_isolation"`
	Toolrun        *ToolrunResult `json:"toolrun,omitempty"`
	Baseline       baseline.End   `json:"baseline,omitempty"`
}

func (r *runner) run(ctx context.Context, cases []corpus.Case) (*Report, error) {
	began := time.Now()
	report := &Report{Cases: make([]outcome, len(cases)), Checked: r.toolrun}
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
	for range next { // discards the remaining cases if all workers failed
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if r.toolrun {
		left, err := r.killHost(ctx)
		if err != nil {
			return nil, err
		}
		report.KilledStrays = left
	}
	report.Duration = time.Since(began)
	return report, ctx.Err()
}

func (r *runner) work(ctx context.Context, worker int, next <-chan int, cases []corpus.Case, into []outcome) error {
	db, err := r.env.database(worker)
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
	o = outcome{Name: c.Name, Mechanism: c.Mechanism, Want: c.Want.String(), Deadline: r.env.deadline(c), NeedsIsolation: c.NeedsIsolation}
	l, err := r.env.layOut(c)
	if err != nil {
		return o, err
	}
	missing := c.NeedsIsolation && r.skipIsolated || c.Python() && r.env.python == ""
	if r.toolrun && !missing {
		if o.Toolrun, err = r.env.runToolrun(ctx, l, db); err != nil {
			return o, err
		}
	}
	if r.baseline {
		o.Baseline, err = r.env.runBaseline(ctx, l)
	}
	return o, err
}

// runBaseline runs a case with the baseline host in a separate process.
func (w *env) runBaseline(ctx context.Context, l layout) (baseline.End, error) {
	done, err := w.procs.execute(baseline.Command(ctx, w.self, l.Case, l.dir, l.input), baseline.Patience(l.Case))
	if err != nil {
		return baseline.None, fmt.Errorf("run %s on the baseline host: %w", l.Name, err)
	}
	return baseline.Judge(done.Killed == hung, done.Killed != ownExit, done.Exit, done.stdout), nil
}

// killHost kills toolrun during a run and returns the number of processes that remain.
func (r *runner) killHost(ctx context.Context) (int, error) {
	endless := corpus.Case{Name: "js/host/killed", Tool: "tool.js", Timeout: time.Minute,
		Files: []corpus.File{{Path: "tool.js", Data: []byte("for (;;);")}}}
	l, err := r.env.layOut(endless)
	if err != nil {
		return 0, err
	}
	const midst = 300 * time.Millisecond
	cmd := exec.CommandContext(ctx, r.env.binary, l.command(r.env, "seed.db")...)
	cmd.Dir = l.dir
	if _, err := r.env.procs.execute(cmd, midst); err != nil {
		return 0, fmt.Errorf("kill toolrun during a run: %w", err)
	}
	return r.env.procs.strays(), nil
}
