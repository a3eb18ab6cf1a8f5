// Command bench measures runs of tools beside what they are made of: bare goja and bare bbolt, doing the same
// work with the same bytes in the same process. Rounds of all cases alternate, so that a noisy machine disturbs
// all of them alike; the ratios are what counts.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each case is measured")
	span := flag.Duration("span", time.Second, "how long each case runs in a round")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(*rounds, *span, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// benchCase is one thing to measure: workers of it run at once, each call is one operation.
type benchCase struct {
	name    string
	workers int
	call    func(worker, n int) error
	took    []time.Duration
	rates   []float64
}

func run(rounds int, span time.Duration, asJSON bool) error {
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
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-44s", round+1, rounds, c.name)
			if err := c.measure(span); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	if asJSON {
		return printJSON(cases)
	}
	return printTable(cases)
}

// row is what is told of a case.
type row struct {
	Name    string  `json:"name"`
	Workers int     `json:"workers"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Rate    float64 `json:"per_second"`
}

func (c *benchCase) row() row {
	slices.Sort(c.took)
	slices.Sort(c.rates)
	at := func(q float64) float64 {
		return float64(c.took[int(q*float64(len(c.took)-1))].Nanoseconds()) / 1000
	}
	return row{c.name, c.workers, at(0.5), at(0.99), c.rates[len(c.rates)/2]}
}

func printJSON(cases []*benchCase) error {
	rows := map[string]row{}
	for _, c := range cases {
		rows[c.name] = c.row()
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"cases": rows, "ratios": ratios(rows)})
}

func printTable(cases []*benchCase) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tat once\tp50 µs\tp99 µs\tper second\t")
	rows := map[string]row{}
	for _, c := range cases {
		r := c.row()
		rows[c.name] = r
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

// ratio compares cases; Aim says what is wanted of it.
type ratio struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Aim   string  `json:"aim"`
}

func ratios(rows map[string]row) []ratio {
	return []ratio{
		{"a reading run, over bare goja plus one bbolt read, p50",
			rows[readingRun].P50 / (rows[bareGoja].P50 + rows[bareRead].P50), "at most 3"},
		{"a writing run, over a bare bbolt Update, p50",
			rows[writingRun].P50 / rows[bareUpdate].P50, "at most 1.2"},
		{"a writing run, over bare goja and a bare bbolt Update, p50",
			rows[writingRun].P50 / rows[bareBoth].P50, "at most 1.2"},
		{"256 writing runs at once, over bare bbolt group commits, per second",
			rows[manyRuns].Rate / max(rows[bareBatch].Rate, rows[eagerBatch].Rate), "at least 0.6"},
		{"256 writing runs at once, over bare goja and bare bbolt group commits, per second",
			rows[manyRuns].Rate / rows[manyBare].Rate, "at least 0.6"},
	}
}

// dbPath is where a case keeps its database.
func dbPath(dir, name string) string { return filepath.Join(dir, name+".db") }
