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

// mostGrowth is by how much a run of a case may have more memory resident than a benign one: of the host's process
// alone, where guests have processes of their own.
const mostGrowth = 64 << 20

// Report is what became of all cases.
type Report struct {
	Cases []outcome     `json:"cases"`
	Took  time.Duration `json:"took_ns"`
	// Checked is set where toolrun ran. KilledStrays are the processes that it left behind when it was killed in the midst
	// of a run.
	Checked      bool `json:"checked"`
	KilledStrays int  `json:"killed_strays"`
	// Native are the attacks of native guests.
	Native []native.Result `json:"native,omitempty"`
}

// counts sums a report up.
type counts struct {
	ran, right, inTime, skipped, strays int
	growth                              int64
	largest                             string
	naive                               map[baseline.End]int
}

func (r *Report) counts() counts {
	n := counts{naive: map[baseline.End]int{}}
	for _, o := range r.Cases {
		n.naive[o.Naive]++
		v := o.Walled
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

// Failed reports whether toolrun did not stand the corpus.
func (r *Report) Failed() bool {
	n := r.counts()
	return slices.ContainsFunc(r.Native, native.Result.Failed) || r.Checked && (n.right < n.ran || n.inTime < n.ran || n.growth > mostGrowth || r.KilledStrays > 0)
}

func (r *Report) print(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\twanted\ttoolrun\tms\tnaive")
	for _, o := range r.Cases {
		answer, took := "-", "-"
		if v := o.Walled; v != nil {
			answer, took = v.Answer, fmt.Sprint(v.Took.Milliseconds())
			if v.Late {
				took += " late"
			}
			if len(v.Problems) > 0 {
				answer = "FAIL " + answer
			}
		}
		fmt.Fprintf(table, "%s\t%.40s\t%s\t%s\t%s\n", o.Name, o.Want, answer, took, orDash(string(o.Naive)))
	}
	_ = table.Flush() // writing a report to a closed terminal is no failure
	r.printProblems(to)
	r.printSummary(to)
	printNative(to, r.Native)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (r *Report) printProblems(to io.Writer) {
	for _, o := range r.Cases {
		if o.Walled != nil && len(o.Walled.Problems) > 0 {
			fmt.Fprintf(to, "\n%s: %s\n  %s\n", o.Name, o.Mechanism, strings.Join(o.Walled.Problems, "\n  "))
		}
	}
}

func (r *Report) printSummary(to io.Writer) {
	n := r.counts()
	fmt.Fprintf(to, "\n%d cases in %.0f s\n", len(r.Cases), r.Took.Seconds())
	if r.Checked {
		fmt.Fprintf(to, "toolrun  %d of %d right, %d of %d within %v of their deadline, %d left out\n", n.right, n.ran, n.inTime, n.ran, lateness, n.skipped)
		fmt.Fprintf(to, "         resident memory: at most %d MiB over a benign run", n.growth>>20)
		if n.largest != "" {
			fmt.Fprintf(to, " (%s)", n.largest)
		}
		fmt.Fprintf(to, "\n         stray processes: %d, after kill -9 of the host in a run: %d\n", n.strays, r.KilledStrays)
	}
	var words []string
	for _, end := range slices.Sorted(maps.Keys(n.naive)) {
		if end != baseline.None {
			words = append(words, fmt.Sprintf("%d %s", n.naive[end], end))
		}
	}
	if len(words) > 0 {
		hurt := n.naive[baseline.Died] + n.naive[baseline.Hung] + n.naive[baseline.Corrupt]
		fmt.Fprintf(to, "naive    %s; died, hung or corrupt: %d\n", strings.Join(words, ", "), hurt)
	}
}
