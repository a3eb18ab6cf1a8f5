package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
)

func TestDocumentsAreBounded(t *testing.T) {
	answer := `{}`
	h := openTool(t, ``, stub{run: func(context.Context, engine.Host) (engine.Output, error) {
		return engine.Output{Output: json.RawMessage(answer)}, nil
	}}.with(nil), func(o *host.Options) { o.Limits.Values, o.Limits.ValueNesting, o.Limits.InputBytes = 10, 3, 1<<10 })
	ten := `{"a":[1,2,3,4,5,6,7,8]}`
	eleven := `{"a":[1,2,3,4,5,6,7,8,9]}`
	for name, document := range map[string]string{
		"values": eleven, "depth": `{"a":[[[1]]]}`, "bytes": `{"a":"` + strings.Repeat("x", 1<<10) + `"}`, "a name twice": `{"a":1,"a":2}`,
		"no object": ` [] `, "null": `null`,
	} {
		for _, inv := range []host.Invocation{{Input: json.RawMessage(document)}, {Context: json.RawMessage(document)}} {
			if _, err := run(h, inv); !errors.Is(err, abi.InputInvalid) {
				t.Errorf("%s: input %.40s, context %.40s = %v; want input_invalid", name, inv.Input, inv.Context, err)
			}
		}
	}
	if _, err := run(h, host.Invocation{Input: json.RawMessage(ten), Context: json.RawMessage(ten)}); err != nil {
		t.Errorf("a run within its limits: %v", err)
	}
	answer = ten
	if _, err := run(h, host.Invocation{}); err != nil {
		t.Errorf("an output within the limits: %v", err)
	}
	answer = eleven
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.OutputInvalid) {
		t.Errorf("an output with too many values = %v; want output_invalid", err)
	}
}

// If a document has no schema, it is not decoded, because decoded values use many times as much
// memory.
func TestDocumentsStayTexts(t *testing.T) {
	var before, after runtime.MemStats
	h := openTool(t, ``, stub{run: func(context.Context, engine.Host) (engine.Output, error) {
		runtime.ReadMemStats(&after)
		return engine.Output{}, nil
	}}.with(nil), func(o *host.Options) { o.App.Tools[0].InputSchema = nil })
	document := json.RawMessage(`{"a":[` + strings.Repeat(`{"a":1},`, 45_000) + `0]}`)
	for range 2 { // the first run compiles the tool
		runtime.ReadMemStats(&before)
		if _, err := run(h, host.Invocation{Input: document, Context: document}); err != nil {
			t.Fatal(err)
		}
	}
	if took, texts := after.TotalAlloc-before.TotalAlloc, uint64(2*len(document)); took > 6*texts {
		t.Errorf("%d bytes of input and context took %d bytes of memory; want at most 6 times as much", texts, took)
	}
}

func TestTheContextOfATool(t *testing.T) {
	h := openTool(t, `return context`)
	provided := `{"env":{"x":1},"runId":"mine","\u0075serId":"bob","steps":null,"n":1.50,"deep":{"b":"<&>","a":[]}}`
	result, err := run(h, host.Invocation{Context: json.RawMessage(provided), Env: map[string]string{"MORE": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"appId":"test","deep":{"b":"<&>","a":[]},"env":{"MORE":"1","REGION":"eu"},"n":1.5,"runId":"` + result.RunID +
		`","sessionId":null,"steps":{},"userId":"ann"}`
	if string(result.Output) != want {
		t.Errorf("context = %s; want %s", result.Output, want)
	}
	result, err = run(h, host.Invocation{Context: json.RawMessage(`{"steps":{"a":1}}`)})
	if err != nil || !strings.Contains(string(result.Output), `"steps":{"a":1}`) {
		t.Errorf("context = %s, %v; want the given steps", result.Output, err)
	}
}

// If an isolated engine is compromised, it can return arbitrary results. The host must check them.
func TestAnswersAreChecked(t *testing.T) {
	deep := strings.Repeat("[", 101) + strings.Repeat("]", 101)
	tests := map[string]engine.Output{
		"no JSON":                         {Output: json.RawMessage(`{`)},
		"no UTF-8":                        {Output: json.RawMessage("\"\xff\"")},
		"a name twice":                    {Output: json.RawMessage(`{"a":1,"a":2}`)},
		"deep":                            {Output: json.RawMessage(deep)},
		"a context that is not JSON":      {Context: json.RawMessage(`{"a":}`)},
		"a deep context":                  {Context: json.RawMessage(`{"a":` + deep + `}`)},
		"a context that is not an object": {Context: json.RawMessage(`[1]`)},
		"a null context":                  {Context: json.RawMessage(`null`)},
		"reserved keys":                   {Context: json.RawMessage(`{"a":1,"\u0073teps":{}}`)},
		"a duplicate key":                 {Context: json.RawMessage(`{"a":1,"\u0061":2}`)},
	}
	for name, out := range tests {
		h := openTool(t, ``, stub{run: func(context.Context, engine.Host) (engine.Output, error) { return out, nil }}.with(nil),
			func(o *host.Options) { o.App.Tools[0].OutputSchema = nil })
		for _, key := range []string{"", "k"} {
			result, err := run(h, host.Invocation{Key: key})
			if !errors.Is(err, abi.OutputInvalid) {
				t.Errorf("%s, key %q: Run = %v; want output_invalid", name, key, err)
			}
			if _, err := json.Marshal(result); err != nil {
				t.Errorf("%s: the result is not JSON: %v", name, err)
			}
		}
	}
}

func TestAContextMayBeAsDeepAsItsValues(t *testing.T) {
	context100 := json.RawMessage(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`)
	h := openTool(t, ``, stub{run: func(context.Context, engine.Host) (engine.Output, error) {
		return engine.Output{Context: context100}, nil
	}}.with(nil))
	if result, err := run(h, host.Invocation{}); err != nil || string(result.Context) != string(context100) {
		t.Errorf("Run = %v; want the context", err)
	}
}

// Some fields of a fault can be set only by package memory. If a fault of an engine contains these
// fields, the host ignores them.
func TestFaultsOfEngines(t *testing.T) {
	made := &abi.Fault{Code: abi.ToolError, Message: "no", Outcome: "unknown", Violations: []abi.Violation{{Keyword: "x", Limit: json.RawMessage(`{`)}}}
	h := openTool(t, ``, stub{run: func(context.Context, engine.Host) (engine.Output, error) { return engine.Output{}, made }}.with(nil))
	result, err := run(h, host.Invocation{})
	if !errors.Is(err, abi.ToolError) || result.Error.Outcome != "" || len(result.Error.Violations) > 0 {
		t.Errorf("Run = %+v", result.Error)
	}
	if _, err := json.Marshal(result); err != nil {
		t.Errorf("the result is not JSON: %v", err)
	}
}

// If a run exceeds a limit, the hint in the fault describes where the limit can be set.
func TestLimitsAreTheirs(t *testing.T) {
	for code, want := range map[abi.Code]string{
		abi.CallLimit: "limits.calls", abi.OutputLimit: "limits.output", abi.MemoryLimit: "limits.memory", abi.Timeout: "limits.timeout", abi.ToolError: "",
	} {
		h := openTool(t, ``, stub{run: func(ctx context.Context, h engine.Host) (engine.Output, error) {
			if code != abi.CallLimit {
				return engine.Output{}, abi.Faultf(code, "it did")
			}
			for {
				if _, err := h.Call(ctx, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`)}}); err != nil {
					return engine.Output{}, err
				}
			}
		}}.with(nil))
		result, err := run(h, host.Invocation{})
		if !errors.Is(err, code) || !strings.Contains(result.Error.Hint, want) || (want == "") != (result.Error.Hint == "") {
			t.Errorf("Run = %v, hint %q; want %s and a hint about %q", err, result.Error.Hint, code, want)
		}
	}
}
