// Package measure runs the benchmarks of this module. Each round measures all cases in turn, so
// noise on the machine affects all cases equally. Therefore the ratio of two cases is more reliable
// than an absolute time.
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

// Bench is a benchmark.
type Bench struct {
	Cases []*Case
	// Apart performs measurements that cannot be made in rounds. Apart runs after the rounds. The
	// default does nothing.
	Apart func() ([]Row, []Figure, error)
	// Figures computes figures from the rows.
	Figures func(Rows) []Figure
	// Close releases the resources of the cases. The default does nothing.
	Close func() error
}

// Case is a single measurement. Exactly one of Call and Sample must be set.
type Case struct {
	// Name is unique among the cases.
	Name string
	// Workers is the number of concurrent callers. The argument "worker" is the number of a
	// concurrent caller, starting at 0. The argument "n" is the number of the call among the calls
	// of the same caller.
	Workers int
	Call    func(worker, n int) error
	// Sample makes a measurement that takes about as long as the argument "span". Use Sample if a
	// case is more than a series of calls.
	Sample func(span time.Duration) (Sample, error)

	took  []time.Duration
	rates []float64
}

// Sample is the result of a case in one round.
type Sample struct {
	Took []time.Duration // duration of each call
	Span time.Duration   // the time from the start of the first call to the end of the last call
}

// Main parses the flags of a benchmark, prepares the benchmark with a temporary folder, runs the
// measurements, and prints the report.
func Main(prepare func(dir string) (*Bench, error)) {
	rounds := flag.Int("rounds", 5, "number of rounds")
	span := flag.Duration("span", 500*time.Millisecond, "duration of each case in a round")
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

// measure runs the case for a while and records the time of each call.
func (c *Case) measure(span time.Duration) error {
	sample := c.Sample
	if sample == nil {
		if err := c.Call(0, 0); err != nil { // the first call sets up the case
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

// callAll makes calls with all workers until the given time has passed.
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
