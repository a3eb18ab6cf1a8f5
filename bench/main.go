// Command bench compares runs of tools with their components: plain goja and plain bbolt. The
// components do the same work with the same bytes in the same process.
package main

import "github.com/toolrun/toolrun/bench/measure"

func main() { measure.Main(prepare) }

func figures(rows measure.Rows) []measure.Figure {
	batch := max(rows[bareBatch].Rate, rows[eagerBatch].Rate)
	return []measure.Figure{
		rows.Over("a reading run, over bare goja plus one bbolt read, p50", readingRun, "at most 3", bareGoja, bareRead),
		rows.Over("a writing run, over a bare bbolt Update, p50", writingRun, "at most 1.2", bareUpdate),
		rows.Over("a writing run, over bare goja and a bare bbolt Update, p50", writingRun, "at most 1.2", bareBoth),
		{Name: "256 writing runs at once, over bare bbolt group commits, per second", Value: rows[manyRuns].Rate / batch, Aim: "at least 0.6"},
		{Name: "256 writing runs at once, over bare goja and bare bbolt group commits, per second", Value: rows[manyRuns].Rate / rows[manyBare].Rate, Aim: "at least 0.6"},
	}
}
