package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

// TestCodeIsCompiledInTimeOfRun checks the time limit for the compilation of an ad-hoc tool. The
// time limit for the compilation must be the time limit of the run, and not LoadTimeout. If the
// compilation times out, a later request that has a longer time limit must succeed.
func TestCodeIsCompiledInTimeOfRun(t *testing.T) {
	ended := make(chan time.Duration, 10)
	slow := stub{load: func(ctx context.Context, _ engine.Source) error {
		deadline, ok := ctx.Deadline()
		if !ok {
			return errors.New("the context has no deadline")
		}
		if left := time.Until(deadline); left > 10*time.Second {
			ended <- left
			return nil
		}
		<-ctx.Done()
		ended <- 0
		return engine.FaultFromContext(ctx)
	}}
	h := openTool(t, ``, slow.with(nil))
	code := &host.AdHocTool{Language: "javascript", Text: "return 1"}
	if _, err := run(h, host.Invocation{Tool: "node", Code: code, Timeout: 20 * time.Millisecond}); !errors.Is(err, abi.Timeout) {
		t.Errorf("a run with little time = %v; want a timeout", err)
	}
	select {
	case left := <-ended:
		if left != 0 {
			t.Errorf("the compilation had a time limit of %s; want at most the 20ms of the run", left)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("compiling continued after the time limit of the run")
	}
	if _, err := run(h, host.Invocation{Tool: "node", Code: code, Timeout: time.Minute}); err != nil {
		t.Errorf("a run with more time = %v; want success", err)
	}
	select {
	case left := <-ended:
		if left == 0 {
			t.Error("the compilation for a run with a time limit of a minute had a short time limit")
		}
	default:
		t.Error("the code was not compiled again")
	}
}

// If a source contains an expensive constant expression, TestConstantsAreNotComputed checks that
// the source nevertheless compiles quickly. The test compiles the source with isolation and without
// isolation. The expression is evaluated in the run, whose time limit applies.
func TestConstantsAreNotComputed(t *testing.T) {
	for name, options := range map[string]func(*host.Options){
		"in a cell":       func(*host.Options) {},
		"in this process": func(o *host.Options) { o.Engines = []engine.Engine{js.New()} },
	} {
		h := openTool(t, `if (input.now) return (12345678901234567890n ** 20000000n) % 7n === 3n; return "skipped"`, options)
		begun := time.Now()
		result, err := run(h, host.Invocation{Input: json.RawMessage(`{"now":false}`)})
		if took := time.Since(begun); err != nil || string(result.Output) != `"skipped"` || took > 10*time.Second {
			t.Errorf("%s: the run = %s, %v after %s", name, result.Output, err, took)
		}
	}
}
