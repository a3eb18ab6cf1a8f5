package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// aborted expects that the guest executes no code after the host has ended the run. aborted also
// expects that Run returns the host's error.
func aborted(t *testing.T, s *subject) {
	m := NewMemory(errHalt)
	out, err := run(s.load(t, Halt), input(), m, enough)
	if !errors.Is(err, errHalt) {
		t.Errorf("Run = %s, %v; want the host's error", out.Output, err)
	}
	wantCall(t, m, abi.GetContent, `"halt"`)
}

func abortedByLog(t *testing.T, s *subject) {
	m := NewMemory(errHalt)
	m.LogHalts = errHalt
	out, err := run(s.load(t, LogAndGo), input(), m, enough)
	if !errors.Is(err, errHalt) {
		t.Errorf("Run = %s, %v; want the host's error", out.Output, err)
	}
	if calls := m.Calls(); len(calls) != 0 {
		t.Errorf("calls = %v; want none", calls)
	}
}

func deadline(t *testing.T, s *subject) {
	out, err := run(s.load(t, Spin), input(), NewMemory(errHalt), short)
	wantFault(t, out, err, abi.Timeout)
}

func cancelled(t *testing.T, s *subject) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(short, cancel)
	out, err := s.load(t, Spin).Run(ctx, input(), NewMemory(errHalt).Host())
	wantFault(t, out, err, abi.Cancelled)
}

// cause expects that a run ends with the cause of its context.
func cause(t *testing.T, s *subject) {
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(short, func() { cancel(abi.Faultf(abi.MemoryLimit, "the run used too much memory")) })
	out, err := s.load(t, Spin).Run(ctx, input(), NewMemory(errHalt).Host())
	wantFault(t, out, err, abi.MemoryLimit)
}

// waiting ends a run while a call is pending. waiting expects that the call is canceled, and that
// Run returns the error of this call.
func waiting(t *testing.T, s *subject) {
	out, err := run(s.load(t, Wait), input(), NewMemory(errHalt), 4*short) // 4*short is enough time for the call
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run = %s, %v; want the error of the call", out.Output, err)
	}
}

// concurrent expects that concurrent runs of a program share no state.
func concurrent(t *testing.T, s *subject) {
	p := s.load(t, Keep)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 10 {
				in, want := input(), fmt.Sprintf("%d-%d", worker, i)
				in.Input = json.RawMessage(`{"value":"` + want + `"}`)
				out, err := run(p, in, NewMemory(errHalt), enough)
				if err != nil {
					t.Errorf("Run = %v; want no error", err)
					return
				}
				wantJSON(t, "output", out.Output, `"`+want+`"`)
			}
		})
	}
	group.Wait()
}
