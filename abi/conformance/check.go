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

// Outcome is what came of one check of a plug-in.
type Outcome struct {
	// Name says what was checked.
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail says what happened instead; of the first run, what it answered.
	Detail string `json:"detail,omitempty"`
}

// Check runs a plug-in through what can happen to any: the outcome of each trial. A plug-in passes that always ends
// by itself, with an output or an error, whatever its memory answers; a trap is no error but an accident. It may
// refuse every input: give one that it takes, for it shows more of itself then. Where the first trial does
// not end in five seconds it is the only one. Table has the operations that the plug-in was loaded with. ctx bounds all of it.
func Check(ctx context.Context, p engine.Program, table abi.Table, input json.RawMessage) []Outcome {
	c := &check{program: p, table: table, input: input}
	first := c.first(ctx)
	if c.late { // as the others would be, one after the other
		return []Outcome{first}
	}
	outcomes := []Outcome{
		first,
		c.trial(ctx, "runs without input", json.RawMessage(`{}`), c.double().answer),
		c.trial(ctx, "takes input of every kind", json.RawMessage(variety), c.double().answer),
		c.trial(ctx, "finds no record", c.input, c.absent),
		c.trial(ctx, "reads a large record", c.input, c.large),
		c.same(ctx),
	}
	for _, code := range abi.Codes() {
		outcomes = append(outcomes, c.trial(ctx, "survives "+string(code), c.input, c.faulty(code)))
	}
	return outcomes
}

// variety is an input with what often gets lost.
const variety = `{"null":null,"true":true,"number":-1.5e21,"text":"grün 😀 \u0000\u2028\"\\","list":[[],{}],"":1,"__proto__":{"a":1}}`

// runTime is what one run of a check may take.
const runTime = 5 * time.Second

type check struct {
	program engine.Program
	table   abi.Table
	input   json.RawMessage
	late    bool // a run did not end by itself
}

type memory func(call abi.Call) (json.RawMessage, *abi.Fault)

// double returns the memory of one run.
func (c *check) double() *Double { return &Double{Operations: c.table} }

func (d *Double) answer(call abi.Call) (json.RawMessage, *abi.Fault) { return d.Call(call) }

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
		return nil, d.issue(call, code, "", "as the check asks")
	}
}

// first runs the plug-in on the input that it is said to take, and tells what came of it.
func (c *check) first(ctx context.Context) Outcome {
	out, err := c.run(ctx, c.input, c.double().answer)
	if err != nil {
		return Outcome{Name: "runs", OK: accident(err) == "", Detail: err.Error()}
	}
	text := []rune(string(out.Output))
	if len(text) > maxShown {
		text = append(text[:maxShown], '…')
	}
	return Outcome{Name: "runs", OK: true, Detail: "answers " + string(text)}
}

// maxShown is how many characters of an output are told.
const maxShown = 200

// trial runs the plug-in once.
func (c *check) trial(ctx context.Context, name string, input json.RawMessage, m memory) Outcome {
	_, err := c.run(ctx, input, m)
	detail := accident(err)
	return Outcome{Name: name, OK: detail == "", Detail: detail}
}

// same runs the plug-in twice, with the same clock and the same random numbers.
func (c *check) same(ctx context.Context) Outcome {
	first, err := c.run(ctx, c.input, c.double().answer)
	second, again := c.run(ctx, c.input, c.double().answer)
	o := Outcome{Name: "answers the same again", OK: true}
	if fmt.Sprint(err) != fmt.Sprint(again) || !bytes.Equal(first.Output, second.Output) {
		o.OK, o.Detail = false, "with the same input, clock, random numbers and memory it answered something else: does it answer in the order of a map?"
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
	c.late = c.late || errors.Is(err, abi.Timeout)
	return out, err
}

// accident says how a run ended that should not have, "" for one that ended well or with an error of its own.
func accident(err error) string {
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
