// Command isolation measures what process isolation costs and how well it protects other runs. The
// command measures:
//
//   - runs in worker processes, compared with the same runs in this process;
//   - the start time and the memory of a worker;
//   - the slowdown of an app while another app floods the host with bombs;
//   - other ways to run untrusted JavaScript.
//
// Run this command in the folder "bench".
package main

import (
	"errors"
	"slices"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engines"
)

func main() {
	engines.Main() // this program also runs as a worker
	measure.Main(prepare)
}

func prepare(string) (b *measure.Bench, err error) {
	var all closers
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close())
		}
	}()
	overheads, err := openOverheads()
	if err != nil {
		return nil, err
	}
	all.add(overheads.close)
	starts, err := openStarts()
	if err != nil {
		return nil, err
	}
	all.add(starts.close)
	usual, err := openNeighbours("default limits", admission.Limits{})
	if err != nil {
		return nil, err
	}
	all.add(usual.close)
	single, err := openNeighbours("PerApp 1", admission.Limits{PerApp: 1})
	if err != nil {
		return nil, err
	}
	all.add(single.close)
	pythons, err := openPythons()
	if err != nil {
		return nil, err
	}
	all.add(pythons.close)
	cases := slices.Concat(overheads.cases(), pythons.cases(), starts.cases(), usual.cases(), single.cases())
	var others []measure.Row
	apart := func() ([]measure.Row, []measure.Figure, error) {
		others = peers()
		rows, figures, err := idleJavaScript()
		if err != nil {
			return nil, nil, err
		}
		more, memory, err := pythons.memory()
		return slices.Concat(others, rows, more), append(figures, memory...), err
	}
	figures := func(rows measure.Rows) []measure.Figure {
		return slices.Concat(priceFigures(rows), startFigures(rows), peerFigures(rows, others), pythons.figures(rows), usual.figures(rows), single.figures(rows))
	}
	return &measure.Bench{Cases: cases, Apart: apart, Figures: figures, Close: all.close}, nil
}
