package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

const (
	attackers = 32                     // the number of goroutines that send bombs
	pace      = 5 * time.Millisecond   // the time between two small runs
	heating   = 300 * time.Millisecond // the time that bombs need to saturate the host
	spans     = 2                      // the duration of one measurement, as a multiple of span
)

// bombs are tools that each exhaust a resource in a different way.
var bombs = map[string]string{
	"loop":   `for (;;) {}`,
	"memory": `const all = []; for (;;) all.push("x".repeat(1e6) + all.length);`,
	"repeat": `let text = "x"; for (;;) text = text.repeat(2 ** 20);`,
	"regexp": `return /^(\w+\s?)*\1$/.test("many words ".repeat(1000) + "!");`,
	"output": `return "x".repeat(2 ** 21);`,
	"logs":   `for (;;) console.log("x".repeat(1000));`,
}

// bombApp returns an app with all bombs. Each bomb first makes a memory call, which proves that the
// bomb was executed. A timeout would not prove that the bomb was executed, because a run that waits
// in the queue can also time out.
func bombApp() fstest.MapFS {
	declared := "app: bombs\nmemory:\n  mark: {access: application}\ntools:\n"
	files := fstest.MapFS{}
	for name, code := range bombs {
		declared += fmt.Sprintf("  %s: {source: %s.js, grants: {mark: read}, limits: {timeout: 200ms}}\n", name, name)
		files[name+".js"] = &fstest.MapFile{Data: []byte(`await memory.get_content("mark");` + "\n" + code)}
	}
	files["app.yaml"] = &fstest.MapFile{Data: []byte(declared)}
	return files
}

// neighbours are two apps that share a pool and a gate. One app sends bombs, and the other app
// sends small runs.
type neighbours struct {
	closers
	name         string
	bombs, small *host.Host

	ran     atomic.Int64  // the number of bombs that were executed
	flooded time.Duration // the total time for which bombs were sent
}

func openNeighbours(name string, limits admission.Limits) (n *neighbours, err error) {
	n = &neighbours{name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	gate, err := admission.New(limits)
	if err != nil {
		return nil, err
	}
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		return nil, err
	}
	n.add(pool.Close)
	if n.bombs, err = openHost(bombApp(), pool.Engines(), gate); err != nil {
		return nil, err
	}
	n.add(n.bombs.Close)
	if n.small, err = openHost(sumApp, pool.Engines(), gate); err != nil {
		return nil, err
	}
	n.add(n.small.Close)
	return n, nil
}

func (n *neighbours) undisturbed() string {
	return "small runs at a fixed rate, undisturbed, " + n.name
}
func (n *neighbours) disturbed() string {
	return "small runs at a fixed rate, next to bombs, " + n.name
}

func (n *neighbours) cases() []*measure.Case {
	return []*measure.Case{
		{Name: n.undisturbed(), Workers: 1, Sample: n.paced},
		{Name: n.disturbed(), Workers: 1, Sample: n.withBombs},
	}
}

// paced starts small runs at a steady pace. paced does not wait for the end of one run before it
// starts the next run. If paced waited, a slow run would delay the runs after it, and the benchmark
// would not measure their delay.
func (n *neighbours) paced(span time.Duration) (sample measure.Sample, err error) {
	var (
		mu   sync.Mutex
		runs sync.WaitGroup
	)
	if err := runSum(n.small, user(0)); err != nil { // the first run starts the worker of the app
		return sample, err
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	began := time.Now()
	for i := 0; time.Since(began) < spans*span; i++ {
		<-tick.C
		runs.Go(func() {
			start := time.Now()
			failed := runSum(n.small, user(i%100))
			took := time.Since(start)
			mu.Lock()
			defer mu.Unlock()
			sample.Took, err = append(sample.Took, took), errors.Join(err, failed)
		})
	}
	sample.Span = time.Since(began)
	runs.Wait()
	return sample, err
}

// withBombs measures small runs like the method "paced", while the other app sends bombs.
func (n *neighbours) withBombs(span time.Duration) (measure.Sample, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var flood sync.WaitGroup
	errs := make([]error, attackers)
	for i := range attackers {
		flood.Go(func() { errs[i] = n.flood(ctx, i) })
	}
	began := time.Now()
	time.Sleep(heating)
	sample, err := n.paced(span)
	n.flooded += time.Since(began)
	stop()
	flood.Wait()
	return sample, errors.Join(err, errors.Join(errs...))
}

// bombEnds lists the fault codes with which the run of a bomb can end. If a bomb still runs when
// the flood ends, its run ends with the fault "cancelled".
var bombEnds = []abi.Code{abi.Timeout, abi.MemoryLimit, abi.OutputLimit, abi.Cancelled}

// flood sends bombs one after another until ctx ends. Each bomb must end with a fault whose code is
// in bombEnds.
func (n *neighbours) flood(ctx context.Context, first int) error {
	names := slices.Sorted(maps.Keys(bombs))
	for i := first; ctx.Err() == nil; i++ {
		name := names[i%len(names)]
		result, err := n.bombs.Run(ctx, host.Invocation{Tool: name})
		if !slices.ContainsFunc(bombEnds, func(code abi.Code) bool { return errors.Is(err, code) }) {
			return fmt.Errorf("the bomb %q ended with %v", name, err)
		}
		if result.Usage.HostCalls > 0 {
			n.ran.Add(1)
		}
	}
	return nil
}

func (n *neighbours) figures(rows measure.Rows) []measure.Figure {
	undisturbed, disturbed := rows[n.undisturbed()], rows[n.disturbed()]
	return []measure.Figure{
		{Name: "ratio of small runs next to bombs to undisturbed runs, " + n.name + ", p50", Value: disturbed.P50 / undisturbed.P50},
		{Name: "ratio of small runs next to bombs to undisturbed runs, " + n.name + ", p99", Value: disturbed.P99 / undisturbed.P99, Aim: "at most 2"},
		{Name: "bombs executed during the measurement, " + n.name, Value: float64(n.ran.Load()) / n.flooded.Seconds(), Unit: "per second"},
	}
}
