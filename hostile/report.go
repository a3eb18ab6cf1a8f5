package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/toolrun/toolrun/hostile/baseline"
	"github.com/toolrun/toolrun/hostile/native"
)

// maxGrowth limits the resident memory of the host. During a hostile run, the host may use at most
// maxGrowth more memory than during a benign run. The memory of workers does not count.
const maxGrowth = 64 << 20

// Report contains the outcomes of all cases.
type Report struct {
	Cases    []outcome     `json:"cases"`
	Duration time.Duration `json:"duration_ns"`
	// Checked reports whether the cases ran with toolrun. KilledStrays is the number of processes
	// that remained after toolrun was killed during a run.
	Checked      bool `json:"checked"`
	KilledStrays int  `json:"killed_strays"`
	// Native contains the results of native guests.
	Native []native.Result `json:"native,omitempty"`
}

// counts contains the numbers of outcomes in a report.
type counts struct {
	ran, right, inTime, skipped, strays int
	growth                              int64
	largest                             string
	baseline                            map[baseline.End]int
}

func (r *Report) counts() counts {
	n := counts{baseline: map[baseline.End]int{}}
	for _, o := range r.Cases {
		n.baseline[o.Baseline]++
		v := o.Toolrun
		if v == nil {
			n.skipped++
			continue
		}
		n.ran++
		n.strays += v.Strays
		if len(v.Problems) == 0 {
			n.right++
		}
		if !v.Late {
			n.inTime++
		}
		if grown := v.Peak - v.Benign; grown > n.growth {
			n.growth, n.largest = grown, o.Name
		}
	}
	return n
}

// Failed reports whether toolrun failed any case.
func (r *Report) Failed() bool {
	n := r.counts()
	return slices.ContainsFunc(r.Native, native.Result.Failed) || r.Checked && (n.right < n.ran || n.inTime < n.ran || n.growth > maxGrowth || r.KilledStrays > 0)
}

func (r *Report) print(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\twanted\ttoolrun\tms\tbaseline")
	for _, o := range r.Cases {
		answer, took := "-", "-"
		if v := o.Toolrun; v != nil {
			answer, took = v.Answer, fmt.Sprint(v.Duration.Milliseconds())
			if v.Late {
				took += " late"
			}
			if len(v.Problems) > 0 {
				answer = "FAIL " + answer
			}
		}
		fmt.Fprintf(table, "%s\t%.40s\t%s\t%s\t%s\n", o.Name, o.Want, answer, took, dashIfEmpty(string(o.Baseline)))
	}
	_ = table.Flush() // writing to a closed terminal can fail
	r.printProblems(to)
	r.printSummary(to)
	printNative(to, r.Native)
}

func dashIfEmpty(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (r *Report) printProblems(to io.Writer) {
	for _, o := range r.Cases {
		if o.Toolrun != nil && len(o.Toolrun.Problems) > 0 {
			fmt.Fprintf(to, "\n%s: %s\n  %s\n", o.Name, o.Mechanism, strings.Join(o.Toolrun.Problems, "\n  "))
		}
	}
}

func (r *Report) printSummary(to io.Writer) {
	n := r.counts()
	fmt.Fprintf(to, "\n%d cases in %.0f s\n", len(r.Cases), r.Duration.Seconds())
	if r.Checked {
		fmt.Fprintf(to, "toolrun  %d of %d correct, %d of %d within %v of their deadline, %d skipped\n", n.right, n.ran, n.inTime, n.ran, lateness, n.skipped)
		fmt.Fprintf(to, "         resident memory: at most %d MiB over a benign run", n.growth>>20)
		if n.largest != "" {
			fmt.Fprintf(to, " (%s)", n.largest)
		}
		fmt.Fprintf(to, "\n         stray processes: %d, after kill -9 of the host in a run: %d\n", n.strays, r.KilledStrays)
	}
	var words []string
	for _, end := range slices.Sorted(maps.Keys(n.baseline)) {
		if end != baseline.None {
			words = append(words, fmt.Sprintf("%d %s", n.baseline[end], end))
		}
	}
	if len(words) > 0 {
		hurt := n.baseline[baseline.Died] + n.baseline[baseline.Hung] + n.baseline[baseline.Corrupt]
		fmt.Fprintf(to, "baseline %s; died, hung or corrupt: %d\n", strings.Join(words, ", "), hurt)
	}
}
