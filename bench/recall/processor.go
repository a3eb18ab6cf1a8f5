package main

import (
	"syscall"
	"time"

	"github.com/toolrun/toolrun/bench/measure"
)

// processorCalls is the number of calls whose processor time is measured.
const processorCalls = 100

// processorTimes measures the processor time of one call, for each case with one of the given
// names. Unlike the duration of a call, the processor time hardly depends on the load of the
// machine. Two goroutines share the work of a search in a large set. Therefore, if two processors
// are idle, the duration of such a search is about half of its processor time.
func processorTimes(cases []*measure.Case, names ...string) (figures []measure.Figure, err error) {
	for _, c := range cases {
		for _, name := range names {
			if c.Name != name {
				continue
			}
			before := processorTime()
			for n := range processorCalls {
				if err := c.Call(0, n); err != nil {
					return nil, err
				}
			}
			took := processorTime() - before
			figures = append(figures, measure.Figure{Name: name + ": processor time of a call", Value: took.Seconds() * 1000 / processorCalls, Unit: "ms"})
		}
	}
	return figures, nil
}

// processorTime returns the time that the process has used on all processors.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
