// Command wasm compares plug-ins with plain wazero and with Extism's go-sdk. The command measures
// the creation of instances, memory calls, and the slowdown of code that the host can interrupt.
package main

import (
	"errors"

	"github.com/toolrun/toolrun/bench/measure"
)

func main() { measure.Main(prepare) }

func prepare(dir string) (*measure.Bench, error) {
	var cases []*measure.Case
	var closers []func() error
	for _, part := range []func(dir string) ([]*measure.Case, func() error, error){small, compiledByGo, cpuBound} {
		more, closePart, err := part(dir)
		if err != nil {
			return nil, err
		}
		cases, closers = append(cases, more...), append(closers, closePart)
	}
	closeAll := func() (err error) {
		for _, c := range closers {
			err = errors.Join(err, c())
		}
		return err
	}
	return &measure.Bench{Cases: cases, Figures: figures, Close: closeAll}, nil
}

func figures(rows measure.Rows) []measure.Figure {
	list := []measure.Figure{
		rows.Over("ratio of Extism's go-sdk, fresh, to toolrun, p50", smallExtism, "at least 20", smallRun),
		rows.Over("ratio of a small plug-in to bare wazero, p50", smallRun, "about 1", smallBare),
		rows.Over("ratio of a Go plug-in from its snapshot to a fresh one in bare wazero, p50", goRun, "below 0.2", goBare),
	}
	for _, w := range workloads {
		list = append(list,
			rows.Over(w.name+": ratio of stoppable to bare, p50", w.name+rewrittenSuffix, w.aim, w.name+bareSuffix),
			rows.Over(w.name+": ratio of WithCloseOnContextDone to bare, p50", w.name+contextSuffix, "none: this is wazero's mechanism", w.name+bareSuffix))
	}
	return list
}
