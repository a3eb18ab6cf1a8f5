// Command bench compares the runs of tools with plain goja and plain bbolt, which are the
// components of a run. Plain goja and plain bbolt do the same work on the same data in the same
// process.
package main

import "github.com/toolrun/toolrun/bench/measure"

func main() { measure.Main(prepare) }

func figures(rows measure.Rows) []measure.Figure {
	batch := max(rows[bareBatch].Rate, rows[eagerBatch].Rate)
	return []measure.Figure{
		rows.Over("ratio of a read run to bare goja plus a bbolt read, p50", readingRun, "at most 3", bareGoja, bareRead),
		rows.Over("ratio of a write run to a bare bbolt Update, p50", writingRun, "at most 1.2", bareUpdate),
		rows.Over("ratio of a write run to bare goja plus a bare bbolt Update, p50", writingRun, "at most 1.2", bareBoth),
		{Name: "ratio of 256 concurrent write runs to bare bbolt group commits, rate", Value: rows[manyRuns].Rate / batch, Aim: "at least 0.6"},
		{Name: "ratio of 256 concurrent write runs to bare goja plus bare bbolt group commits, rate", Value: rows[manyRuns].Rate / rows[manyBare].Rate, Aim: "at least 0.6"},
	}
}
