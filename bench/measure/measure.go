// Package measure is what the benchmarks of this module are run by. Rounds of all cases alternate, so that a noisy
// machine disturbs all of them alike; the ratios are what counts.
package measure

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Bench is what a benchmark measures.
type Bench struct {
	Cases []*Case
	// Apart measures what cannot be had in rounds, after them. Default: nothing.
	Apart func() ([]Row, []Figure, error)
	// Figures tells what the rows come to.
	Figures func(Rows) []Figure
	// Close frees what the cases hold. Default: nothing.
	Close func() error
}

// Case is one thing to measure, by Call or by Sample.
type Case struct {
	// Name is unique among the cases.
	Name string
	// Workers call at once; worker counts them from 0, n the calls of each.
	Workers int
	Call    func(worker, n int) error
	// Sample is for what is more than calls one after the other. It measures for about span.
	Sample func(span time.Duration) (Sample, error)

	took  []time.Duration
	rates []float64
}

// Sample is what was measured of a case in one round.
type Sample struct {
	Took []time.Duration // by each call
	Span time.Duration   // in which all these calls were made
}

// Main parses the flags of a benchmark, makes it, with a folder that it may use, and measures and prints it.
func Main(prepare func(dir string) (*Bench, error)) {
	rounds := flag.Int("rounds", 5, "how often each case is measured")
	span := flag.Duration("span", 500*time.Millisecond, "how long each case runs in a round")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(prepare, *rounds, *span, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(prepare func(string) (*Bench, error), rounds int, span time.Duration, asJSON bool) (err error) {
	dir, err := os.MkdirTemp("", "toolrun-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b, err := prepare(dir)
	if err != nil {
		return err
	}
	if b.Close != nil {
		defer func() { err = errors.Join(err, b.Close()) }()
	}
	for round := range rounds {
		for _, c := range b.Cases {
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-60s", round+1, rounds, c.Name)
			if err := c.measure(span); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	report, err := b.report()
	if err != nil {
		return err
	}
	if asJSON {
		return report.writeJSON(os.Stdout)
	}
	return report.writeTable(os.Stdout)
}

// measure runs the case for a while and keeps how long each call took.
func (c *Case) measure(span time.Duration) error {
	sample := c.Sample
	if sample == nil {
		if err := c.Call(0, 0); err != nil { // outside of the measurement: what the case sets up
			return err
		}
		sample = c.callAll
	}
	got, err := sample(span)
	if err != nil {
		return err
	}
	c.rates = append(c.rates, float64(len(got.Took))/got.Span.Seconds())
	c.took = append(c.took, got.Took...)
	return nil
}

// callAll has all workers call until span is over.
func (c *Case) callAll(span time.Duration) (Sample, error) {
	var wg sync.WaitGroup
	took := make([][]time.Duration, c.Workers)
	errs := make([]error, c.Workers)
	began := time.Now()
	for worker := range c.Workers {
		wg.Go(func() {
			for n := 1; time.Since(began) < span; n++ {
				start := time.Now()
				if errs[worker] = c.Call(worker, n); errs[worker] != nil {
					return
				}
				took[worker] = append(took[worker], time.Since(start))
			}
		})
	}
	wg.Wait()
	return Sample{slices.Concat(took...), time.Since(began)}, errors.Join(errs...)
}
