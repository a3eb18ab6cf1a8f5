// Package measure is what the benchmarks of this module are run by. Rounds of all cases alternate, so that a noisy
// machine disturbs all of them alike; the ratios are what counts.
package measure

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// Case is one thing to measure.
type Case struct {
	// Name is unique among the cases.
	Name string
	// Workers call at once; worker counts them from 0, n the calls of each.
	Workers int
	Call    func(worker, n int) error

	took  []time.Duration
	rates []float64
}

// Main parses the flags of a benchmark, makes its cases in a folder for them, and measures and prints them.
func Main(prepare func(dir string) ([]*Case, func(), error), ratios func(Rows) []Ratio) {
	rounds := flag.Int("rounds", 5, "how often each case is measured")
	span := flag.Duration("span", time.Second, "how long each case runs in a round")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(prepare, ratios, *rounds, *span, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(prepare func(string) ([]*Case, func(), error), ratios func(Rows) []Ratio, rounds int, span time.Duration, asJSON bool) error {
	dir, err := os.MkdirTemp("", "toolrun-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cases, closeAll, err := prepare(dir)
	if err != nil {
		return err
	}
	defer closeAll()
	for round := range rounds {
		for _, c := range cases {
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-44s", round+1, rounds, c.Name)
			if err := c.measure(span); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	if asJSON {
		return printJSON(cases, ratios)
	}
	return printTable(cases, ratios)
}

// Row is what is told of a case.
type Row struct {
	Name    string `json:"name"`
	Workers int    `json:"workers"`
	// P50 and P99 are what a call took at the median and at the 99th percentile, in microseconds.
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
	// Rate is the calls per second of all workers together, in the median round.
	Rate float64 `json:"per_second"`
}

// Rows are the rows by the names of their cases.
type Rows map[string]Row

func (c *Case) row() Row {
	slices.Sort(c.took)
	slices.Sort(c.rates)
	at := func(q float64) float64 {
		return float64(c.took[int(q*float64(len(c.took)-1))].Nanoseconds()) / 1000
	}
	return Row{c.Name, c.Workers, at(0.5), at(0.99), c.rates[len(c.rates)/2]}
}

func printJSON(cases []*Case, ratios func(Rows) []Ratio) error {
	rows := Rows{}
	for _, c := range cases {
		rows[c.Name] = c.row()
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"cases": rows, "ratios": ratios(rows)})
}

func printTable(cases []*Case, ratios func(Rows) []Ratio) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tat once\tp50 µs\tp99 µs\tper second\t")
	rows := Rows{}
	for _, c := range cases {
		r := c.row()
		rows[c.Name] = r
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.0f\t\n", r.Name, r.Workers, r.P50, r.P99, r.Rate)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, ratio := range ratios(rows) {
		fmt.Printf("\n%s: %.2f (aim: %s)", ratio.Name, ratio.Value, ratio.Aim)
	}
	fmt.Println()
	return nil
}

// Over is how long one case takes at the median, over the sum of others.
func (r Rows) Over(name, a, aim string, others ...string) Ratio {
	var sum float64
	for _, other := range others {
		sum += r[other].P50
	}
	return Ratio{Name: name, Value: r[a].P50 / sum, Aim: aim}
}

// Ratio compares cases; Aim says what is wanted of it.
type Ratio struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Aim   string  `json:"aim"`
}

// measure runs the case for a while and keeps how long each call took.
func (c *Case) measure(span time.Duration) error {
	var wg sync.WaitGroup
	took := make([][]time.Duration, c.Workers)
	errs := make([]error, c.Workers)
	if err := c.Call(0, 0); err != nil { // outside of the measurement: what the case sets up
		return err
	}
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
	elapsed := time.Since(began)
	before := len(c.took)
	for _, t := range took {
		c.took = append(c.took, t...)
	}
	c.rates = append(c.rates, float64(len(c.took)-before)/elapsed.Seconds())
	return errors.Join(errs...)
}
