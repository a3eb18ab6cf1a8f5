//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestWaitingWorkerIsReused ends the context of a run while the run waits for an external
// operation. The run must end, and its worker must run the next guest.
func TestWaitingWorkerIsReused(t *testing.T) {
	b := newBench(t, sandbox.Options{Spares: -1})
	code := `if ($wait) try { await model.chat("m", {messages: []}) } catch {} return 1`
	program, err := b.pool.Engines()[javaScript].Load(t.Context(), engine.Source{Path: "wait.js", Code: []byte(code), Params: []string{"wait"}, Operations: abi.Operations()})
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, input string, waiting func()) error {
		h := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) { return nil, errors.New("no call") }}
		h.Begin = func(abi.Call) (uint64, error) { return 1, nil }
		h.Await = func(ctx context.Context, _ time.Time) (uint64, json.RawMessage, error) {
			waiting()
			<-ctx.Done()
			return 0, nil, errors.New("ended")
		}
		_, err := program.Run(ctx, engine.Input{Input: json.RawMessage(input)}, h)
		return err
	}
	if err := run(t.Context(), `{"wait": false}`, nil); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func() (context.Context, context.CancelFunc, func()){
		"cancel": func() (context.Context, context.CancelFunc, func()) {
			ctx, cancel := context.WithCancel(t.Context())
			return ctx, cancel, cancel
		},
		"deadline": func() (context.Context, context.CancelFunc, func()) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			return ctx, cancel, func() {}
		},
	} {
		reused := false
		for try := 0; try < 20 && !reused; try++ { // the machine can be busy
			before := children(t)
			ctx, cancel, waiting := end()
			if err := run(ctx, `{"wait": true}`, waiting); err == nil {
				t.Errorf("%s: the run succeeded; want an error", name)
			}
			cancel()
			if err := run(t.Context(), `{"wait": false}`, nil); err != nil {
				t.Fatal(err)
			}
			reused = slices.Equal(children(t), before)
		}
		if !reused {
			t.Errorf("%s: each run got another worker; want the worker of the canceled run at least once", name)
		}
	}
}
