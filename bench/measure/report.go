package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Row is the result of a case.
type Row struct {
	Name    string `json:"name"`
	Workers int    `json:"workers"`
	// P50 is the median time of a call, and P99 is the 99th percentile, in microseconds.
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
	// Rate is the number of calls that all workers together make per second. Rate is the median of
	// the rounds.
	Rate float64 `json:"per_second"`
	// Missing is the reason why the row has no numbers, or "" if it has numbers.
	Missing string `json:"missing,omitempty"`
}

// Rows maps the names of cases to their rows.
type Rows map[string]Row

// Has reports whether every row with one of the given names has numbers.
func (r Rows) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		row, ok := r[name]
		return !ok || row.Missing != ""
	})
}

// Over returns a ratio of times: the median time of one case, divided by the sum of the median
// times of other cases.
func (r Rows) Over(name, a, aim string, others ...string) Figure {
	var sum float64
	for _, other := range others {
		sum += r[other].P50
	}
	return Figure{Name: name, Value: r[a].P50 / sum, Aim: aim}
}

// Figure is a result of the benchmark: a ratio of cases, or a quantity.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is the unit of the value, or "" if the value is a ratio.
	Unit string `json:"unit,omitempty"`
	// Aim is the goal for the figure, or "" if the figure has no goal.
	Aim string `json:"aim,omitempty"`
}

// String formats the figure.
func (f Figure) String() string {
	text := fmt.Sprintf("%s: %.2f", f.Name, f.Value)
	if f.Unit != "" {
		text += " " + f.Unit
	}
	if f.Aim != "" {
		text += " (aim: " + f.Aim + ")"
	}
	return text
}

// row summarizes a case that was measured at least once.
func (c *Case) row() Row {
	if len(c.took) == 0 {
		return Row{Name: c.Name, Workers: c.Workers, Missing: "no call finished in time"}
	}
	slices.Sort(c.took)
	slices.Sort(c.rates)
	at := func(q float64) float64 {
		return float64(c.took[int(q*float64(len(c.took)-1))].Nanoseconds()) / float64(time.Microsecond)
	}
	return Row{Name: c.Name, Workers: c.Workers, P50: at(0.5), P99: at(0.99), Rate: c.rates[len(c.rates)/2]}
}

// report is the report of a benchmark. The rows of a report are in the order of their cases.
type report struct {
	Rows    []Row    `json:"cases"`
	Figures []Figure `json:"figures"`
}

func (b *Bench) report() (*report, error) {
	r := &report{}
	for _, c := range b.Cases {
		r.Rows = append(r.Rows, c.row())
	}
	var more []Figure
	if b.Apart != nil {
		rows, figures, err := b.Apart()
		if err != nil {
			return nil, err
		}
		r.Rows, more = append(r.Rows, rows...), figures
	}
	named := Rows{}
	for _, row := range r.Rows {
		named[row.Name] = row
	}
	r.Figures = append(b.Figures(named), more...)
	return r, nil
}

func (r *report) writeJSON(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func (r *report) writeTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tat once\tp50 µs\tp99 µs\tper second\t")
	for _, row := range r.Rows {
		if row.Missing == "" {
			fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.0f\t\n", row.Name, row.Workers, row.P50, row.P99, row.Rate)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if row.Missing != "" {
			fmt.Fprintf(out, "%s: not measured: %s\n", row.Name, row.Missing)
		}
	}
	fmt.Fprintln(out)
	for _, figure := range r.Figures {
		fmt.Fprintln(out, figure)
	}
	return nil
}
