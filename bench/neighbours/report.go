package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is the report for one binary.
type report struct {
	Toolrun string    `json:"toolrun"`
	PerApp  int       `json:"per_app"`
	Attacks []outcome `json:"attacks"`
}

// outcome is the result of an attack.
type outcome struct {
	Attack string `json:"attack"`
	// Seconds is the duration until the last responses to the neighbors.
	Seconds float64 `json:"seconds"`
	// Requests is the number of the attacker's requests for each outcome. SentMiB is the total size
	// of the attacker's requests.
	Requests map[string]int `json:"requests"`
	SentMiB  float64        `json:"sent_mib"`
	// MemoryMiB is the memory of the service before the attack, and PeakMiB is the maximum during
	// the attack. MemoryMiB and PeakMiB exclude workers. GrowthMiB is the growth of the database
	// file.
	MemoryMiB float64 `json:"memory_mib"`
	PeakMiB   float64 `json:"peak_mib"`
	GrowthMiB float64 `json:"growth_mib"`
	// CommitWork is the longest time, in milliseconds, for which one commit blocked other commits.
	// The time that a commit needs to write to disk does not count.
	CommitWork float64 `json:"commit_work_ms"`
	// Dead reports whether the service died.
	Dead bool `json:"dead"`
	// LoadBefore and LoadAfter are the machine's load averages over the last minute.
	LoadBefore string       `json:"load_before"`
	LoadAfter  string       `json:"load_after"`
	Neighbours []comparison `json:"neighbours"`
}

// comparison compares a neighbor's times without the attack with the times during the attack. Times
// are in milliseconds.
type comparison struct {
	Tenant      string         `json:"tenant"`
	Request     string         `json:"request"`
	Undisturbed figures        `json:"undisturbed"`
	During      figures        `json:"during"`
	P50         float64        `json:"p50_ratio"`
	P99         float64        `json:"p99_ratio"`
	Refused     map[string]int `json:"refused"`
}

type figures struct {
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Longest float64 `json:"longest_ms"`
	Count   int     `json:"count"`
}

func (t *taken) figures() figures {
	return figures{P50: t.at(0.5), P99: t.at(0.99), Longest: t.at(1), Count: len(t.times)}
}

func compare(n neighbour, undisturbed, during *taken) comparison {
	c := comparison{Tenant: n.who, Request: n.what, Undisturbed: undisturbed.figures(), During: during.figures(), Refused: maps.Clone(during.ends)}
	delete(c.Refused, "ok")
	if c.Undisturbed.P99 > 0 {
		c.P50, c.P99 = c.During.P50/c.Undisturbed.P50, c.During.P99/c.Undisturbed.P99
	}
	return c
}

func (o outcome) print(out io.Writer) {
	end := fmt.Sprintf("memory %.0f to %.0f MiB", o.MemoryMiB, o.PeakMiB)
	if o.Dead {
		end += ", THE SERVICE DIED"
	}
	fmt.Fprintf(out, "\n%s: %.1f s, %s; sent %.0f MiB, %s, file +%.0f MiB, commits blocked at most %.1f ms, load %s to %s\n",
		o.Attack, o.Seconds, counted(o.Requests), o.SentMiB, end, o.GrowthMiB, o.CommitWork, o.LoadBefore, o.LoadAfter)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "tenant\trequest\tundisturbed: p50 ms\tp99\tlongest\tduring: p50 ms\tp99\tlongest\tcount\tratio: p50\tp99\trefused\t")
	for _, n := range o.Neighbours {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%.1f\t%.1f\t%s\t\n", n.Tenant, n.Request,
			n.Undisturbed.P50, n.Undisturbed.P99, n.Undisturbed.Longest, n.During.P50, n.During.P99, n.During.Longest, n.During.Count, n.P50, n.P99, counted(n.Refused))
	}
	_ = w.Flush() // a failed write to the terminal does not matter
}

func counted(counts map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s: %d", name, counts[name]))
	}
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}

func (r report) writeJSON(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
