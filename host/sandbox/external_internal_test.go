package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// TestRogueExternalFrames sends frames that a correct worker never sends. The parent must reject
// these frames.
func TestRogueExternalFrames(t *testing.T) {
	begin := func(id uint64, op string) func(*wire) error {
		return func(w *wire) error { return w.send(w.frame(kindBegin).number(id).text(op).number(0)) }
	}
	wait := func(w *wire) error { return w.send(w.frame(kindWait).number(0)) }
	var many []func(*wire) error
	for id := range uint64(maxPending + 1) {
		many = append(many, begin(id+1, abi.ModelChat))
	}
	for name, frames := range map[string][]func(*wire) error{
		"wait for nothing":       {wait},
		"wait twice":             {begin(1, abi.ModelChat), wait, wait},
		"an id that is too high": {begin(2, abi.ModelChat)},
		"an id twice":            {begin(1, abi.ModelChat), begin(1, abi.ModelChat)},
		"a memory operation":     {begin(1, abi.GetContent)},
		"an unknown operation":   {begin(1, "other")},
		"too many operations":    many,
		"a frame of the host":    {func(w *wire) error { return w.send(w.frame(kindDone).number(1)) }},
		"trailing bytes":         {begin(1, abi.ModelChat), func(w *wire) error { return w.send(w.frame(kindWait).number(0).number(0)) }},
	} {
		t.Run(name, func(t *testing.T) {
			x := exchangeOf(seed(frames...))
			if _, err, lost := x.serve(); !lost || !errors.Is(err, errProtocol) {
				t.Errorf("serve = %v, lost %v; want a protocol violation", err, lost)
			}
		})
	}
	t.Run("a run without external operations", func(t *testing.T) {
		x := exchangeOf(seed(begin(1, abi.ModelChat)))
		x.host.Begin = nil
		if _, err, lost := x.serve(); !lost || !errors.Is(err, errProtocol) {
			t.Errorf("serve = %v, lost %v; want a protocol violation", err, lost)
		}
	})
}

// exchangeOf returns an exchange with a simulated worker. The worker has sent the given bytes. In
// the exchange, the host answers each operation.
func exchangeOf(sent []byte) *exchange {
	w := &worker{dead: true, wire: newWire(bytes.NewReader(sent), io.Discard)}
	x := &exchange{ctx: context.Background(), worker: w, limits: engine.Limits{}.WithDefaults(), table: abi.Operations(), watchdog: &watchdog{worker: w, finished: true}}
	begun, answered := uint64(0), uint64(0)
	x.host.Begin = func(abi.Call) (uint64, error) { begun++; return begun, nil }
	x.host.Await = func(context.Context, time.Time) (uint64, json.RawMessage, error) {
		answered++
		return answered, json.RawMessage("null"), nil
	}
	return x
}
