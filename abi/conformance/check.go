package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Outcome is the result of one check that a plug-in passed or failed.
type Outcome struct {
	// Name is the name of the check.
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail describes the failure, if the check failed. If the first check passed, its Detail
	// contains the plug-in's output.
	Detail string `json:"detail,omitempty"`
}

// Check runs a plug-in several times and returns the outcome of each check. The runs have various
// inputs. For each fault code, there is also a run in which all memory calls fail with that fault.
// A plug-in passes if every run returns an output or an error. If a run ends with a trap, the
// plug-in fails. The argument "input" should be an input that the plug-in accepts. If the plug-in
// rejects this input, the checks cover less of the plug-in's code. If the first run times out after
// five seconds, Check makes no further runs. The argument "table" contains the operations that the
// plug-in can import. Check stops when ctx is done.
func Check(ctx context.Context, p engine.Program, table abi.Table, input json.RawMessage) []Outcome {
	c := &check{program: p, table: table, input: input}
	first := c.first(ctx)
	if c.timedOut { // the other runs would probably also time out
		return []Outcome{first}
	}
	outcomes := []Outcome{
		first,
		c.trial(ctx, "runs without input", json.RawMessage(`{}`), c.double().reply),
		c.trial(ctx, "handles input of every type", json.RawMessage(variety), c.double().reply),
		c.trial(ctx, "handles a missing record", c.input, c.absent),
		c.trial(ctx, "handles a large record", c.input, c.large),
		c.deterministic(ctx),
	}
	for _, code := range abi.Codes() {
		outcomes = append(outcomes, c.trial(ctx, "handles the fault "+string(code), c.input, c.faulty(code)))
	}
	return outcomes
}

// variety is an input. variety contains values that programs often corrupt.
const variety = `{"null":null,"true":true,"number":-1.5e21,"text":"grün 😀 \u0000\u2028\"\\","list":[[],{}],"":1,"__proto__":{"a":1}}`

// runTime is the time limit of one run.
const runTime = 5 * time.Second

type check struct {
	program  engine.Program
	table    abi.Table
	input    json.RawMessage
	timedOut bool // a run timed out
}

type memory func(call abi.Call) (json.RawMessage, *abi.Fault)

// double returns a new Double for one run.
func (c *check) double() *Double { return &Double{Operations: c.table} }

func (d *Double) reply(call abi.Call) (json.RawMessage, *abi.Fault) { return d.Call(call) }

func (c *check) absent(call abi.Call) (json.RawMessage, *abi.Fault) {
	if op, ok := c.table.Lookup(call.Op); ok && op.Verb == abi.Read {
		return json.RawMessage("null"), nil
	}
	return json.RawMessage(`{"success":true,"deleted":false}`), nil
}

func (c *check) large(call abi.Call) (json.RawMessage, *abi.Fault) {
	if op, ok := c.table.Lookup(call.Op); ok && op.Verb == abi.Read {
		return json.RawMessage(`{"text":"` + strings.Repeat("x", 256<<10) + `"}`), nil
	}
	return json.RawMessage(`{"success":true}`), nil
}

func (c *check) faulty(code abi.Code) memory {
	d := c.double()
	return func(call abi.Call) (json.RawMessage, *abi.Fault) {
		return nil, d.issue(call, code, "", "requested by the check")
	}
}

// The method "first" runs the plug-in with the given input. The Outcome of the run contains the
// output or the error.
func (c *check) first(ctx context.Context) Outcome {
	out, err := c.run(ctx, c.input, c.double().reply)
	if err != nil {
		return Outcome{Name: "runs", OK: crash(err) == "", Detail: err.Error()}
	}
	text := []rune(string(out.Output))
	if len(text) > maxShown {
		text = append(text[:maxShown], '…')
	}
	return Outcome{Name: "runs", OK: true, Detail: "returns " + string(text)}
}

// maxShown is the maximum length of an output in an Outcome, in characters.
const maxShown = 200

// trial runs the plug-in once.
func (c *check) trial(ctx context.Context, name string, input json.RawMessage, m memory) Outcome {
	_, err := c.run(ctx, input, m)
	detail := crash(err)
	return Outcome{Name: name, OK: detail == "", Detail: detail}
}

// deterministic runs the plug-in twice and compares the results of the runs. Both runs have the
// same clock and the same random numbers.
func (c *check) deterministic(ctx context.Context) Outcome {
	first, err := c.run(ctx, c.input, c.double().reply)
	second, secondErr := c.run(ctx, c.input, c.double().reply)
	o := Outcome{Name: "is deterministic", OK: true}
	if fmt.Sprint(err) != fmt.Sprint(secondErr) || !bytes.Equal(first.Output, second.Output) {
		o.OK, o.Detail = false, "two runs with the same input, clock, random numbers and records returned different results; check whether the output depends on map order"
	}
	return o
}

func (c *check) run(ctx context.Context, input json.RawMessage, m memory) (engine.Output, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	in := engine.Input{
		Input: input, Context: json.RawMessage(`{"runId":"run_1","appId":"app","userId":"ann","sessionId":"s1","env":{"KEY":"v"},"steps":{}}`),
		Now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 1,
	}
	out, err := c.program.Run(ctx, in, engine.Host{
		Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
			reply, fault := m(call)
			if fault != nil {
				return nil, fault
			}
			return reply, nil
		},
	})
	c.timedOut = c.timedOut || errors.Is(err, abi.Timeout)
	return out, err
}

// crash describes how a run ended if it ended with a trap or exceeded a limit. If the run succeeded
// or the plug-in returned an error, crash returns "".
func crash(err error) string {
	f, ok := errors.AsType[*abi.Fault](err)
	switch {
	case err == nil:
		return ""
	case !ok || f.Code == abi.Internal && f.ID == "":
		return err.Error()
	case f.ID != "" || f.Code == abi.ToolError && !strings.Contains(f.Message, engine.Trapped):
		return ""
	}
	return f.Error()
}
