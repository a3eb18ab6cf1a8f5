package abitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
	"github.com/toolrun/toolrun/host/engine"
)

// Guest checks a binding with a probe. A probe is a plug-in that reads {"steps":[...]} and executes
// each step. A probe returns {"replies":[...],"input":...,"context":...}. The replies are the
// results of the calls. The input and the context are the documents that the binding has read. The
// steps are:
//
//	{"call":"get_content","store":S,"projection":J,"options":J}      the result is {"reply":J} or {"fault":{...}}
//	{"call":"set_content","store":S,"value":J,"options":J}
//	{"call":"delete_content","store":S,"options":J}
//	{"call":"remember","store":S,"value":J,"options":J}
//	{"call":"recall","store":S,"value":J,"options":J}
//	{"call":"forget","store":S,"options":J}                          the options are the selector
//	{"log":"debug|info|warn|error","text":T} logs a line
//	{"print":T}                                                      writes to standard output, or logs as info
//	{"context":{K:J}}                                                sets each key of the context
//	{"fail":T}                                                       fails the run with that message
//	{"pass":true}                                                    fails the run with the last fault, unchanged
//
// The probe must return numbers and texts exactly as the documents contain them. The probe must
// also pass the checks of package conformance.
func Guest(t *testing.T, probe engine.Program) {
	for _, c := range scripts {
		t.Run(c.name, func(t *testing.T) { c.check(t, probe) })
	}
	t.Run("literals", func(t *testing.T) { checkLiterals(t, probe) })
	t.Run("conformance", func(t *testing.T) { checkConformance(t, probe) })
}

// checkLiterals checks that the binding preserves the digits of numbers and the escapes of texts.
// White space can differ.
func checkLiterals(t *testing.T, probe engine.Program) {
	const input = `{"steps": [], "n":[1.50,9007199254740993,1e2], "s":"\ud83d\ude00 \u00fc ü\/"}`
	const document = `{ "runId":"\u0072"}`
	const want = `{"replies":[],"input":` + input + `,"context":` + document + `}`
	in := engine.Input{Input: json.RawMessage(input), Context: json.RawMessage(document)}
	out, err := probe.Run(t.Context(), in, engine.Host{})
	if err != nil || compacted(out.Output) != compacted([]byte(want)) {
		t.Errorf("Run = %s, %v; want %s", out.Output, err, want)
	}
}

// compacted removes insignificant white space from a JSON text. compacted returns any other text
// unchanged.
func compacted(text []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return string(text)
	}
	return b.String()
}

func checkConformance(t *testing.T, probe engine.Program) {
	input := json.RawMessage(`{"steps":[{"call":"get_content","store":"prefs"}]}`)
	for _, outcome := range conformance.Check(t.Context(), probe, abi.Operations(), input) {
		if !outcome.OK {
			t.Errorf("%s: %s", outcome.Name, outcome.Detail)
		}
	}
}

// script is a test of a probe. A script contains steps, the expected replies and the expected
// effects.
type script struct {
	name, steps string
	replies     string // a fault can omit fields that are null
	want        Effect
}

var scripts = []script{
	{"no steps", ``, ``, Effect{}},
	{"a read", `{"call":"get_content","store":"prefs"}`, `{"reply":{"n":1}}`,
		Effect{Calls: []abi.Call{call(abi.GetContent, `"prefs"`)}}},
	{"a projection and options", `{"call":"get_content","store":"prefs","projection":{"n":1},"options":{"record":true}}`, `{"reply":{"n":1}}`,
		Effect{Calls: []abi.Call{call(abi.GetContent, `"prefs"`, `{"n":1}`, `{"record":true}`)}}},
	{"values of every kind", `{"call":"set_content","store":"prefs","value":{"null":null,"t":true,"n":-1.5e21,"text":"grün 😀 \" \\","list":[[],{}]}}`, `{"reply":{"success":true}}`,
		Effect{Calls: []abi.Call{call(abi.SetContent, `"prefs"`, `{"null":null,"t":true,"n":-1.5e21,"text":"grün 😀 \" \\","list":[[],{}]}`)}}},
	{"a delete", `{"call":"delete_content","store":"prefs"}`, `{"reply":{"success":true}}`,
		Effect{Calls: []abi.Call{call(abi.DeleteContent, `"prefs"`)}}},
	{"a store with letters beyond ASCII", `{"call":"get_content","store":"größe"}`, `{"reply":{"n":1}}`,
		Effect{Calls: []abi.Call{call(abi.GetContent, `"größe"`)}}},
	{"a fault that is handled", `{"call":"get_content","store":"fault_conflict"},{"call":"get_content","store":"prefs"}`,
		`{"fault":{"code":"conflict","message":"requested by the test","op":"get_content","store":"fault_conflict"}},{"reply":{"n":1}}`,
		Effect{Calls: []abi.Call{call(abi.GetContent, `"fault_conflict"`), call(abi.GetContent, `"prefs"`)}}},
	{"a fault that is returned", `{"call":"get_content","store":"fault_read_only"},{"pass":true}`, ``,
		Effect{Calls: []abi.Call{call(abi.GetContent, `"fault_read_only"`)}, Code: abi.ReadOnly, Message: "requested by the test"}},
	{"an error of the tool", `{"fail":"no \"such\" colour: grün"}`, ``, Effect{Code: abi.ToolError, Message: `no "such" colour: grün`}},
	{"log lines", `{"log":"debug","text":"a"},{"log":"info","text":"b"},{"log":"warn","text":"c"},{"log":"error","text":"d"},{"print":"e"}`, ``,
		Effect{Logs: []string{"debug a", "info b", "warn c", "error d", "info e"}}},
	{"keys of the context", `{"context":{"a":1}},{"context":{"b":[2]}},{"context":{"a":{"c":null}}}`, ``, Effect{Context: `{"a":{"c":null},"b":[2]}`}},
	{"a reserved key of the context", `{"context":{"steps":{}}}`, ``, Effect{Code: abi.OutputInvalid, Message: "context.steps"}},
}

func (s script) check(t *testing.T, probe engine.Program) {
	const document = `{"runId":"r","text":"ü","env":{"KEY":"v"}}`
	input := `{"steps":[` + s.steps + `]}`
	var seen Effect
	out, err := probe.Run(t.Context(), engine.Input{Input: json.RawMessage(input), Context: json.RawMessage(document)}, seen.host())
	seen.Context = string(out.Context)
	f, failed := errors.AsType[*abi.Fault](err)
	switch {
	case err != nil && !failed:
		t.Fatal(err)
	case failed && (f.Code != s.want.Code || !strings.Contains(f.Message, s.want.Message)):
		t.Fatalf("Run = %v; want %q %q", f, s.want.Code, s.want.Message)
	case !failed && s.want.Code != "":
		t.Fatalf("Run = %s; want %s", out.Output, s.want.Code)
	case !failed:
		sameJSON(t, "output", string(out.Output), `{"replies":[`+s.replies+`],"input":`+input+`,"context":`+document+`}`)
		sameJSON(t, "context", nullIfEmpty(seen.Context), nullIfEmpty(s.want.Context))
	}
	sameJSON(t, "calls", trimmed(seen.Calls), trimmed(s.want.Calls))
	if got, want := strings.Join(seen.Logs, "\n"), strings.Join(s.want.Logs, "\n"); got != want {
		t.Errorf("logs = %q; want %q", got, want)
	}
}

func nullIfEmpty(text string) string {
	if text == "" {
		return "null"
	}
	return text
}

// trimmed encodes calls as JSON and omits absent arguments at the end of a call.
func trimmed(calls []abi.Call) string {
	for i := range calls {
		args := calls[i].Args
		for len(args) > 0 && len(args[len(args)-1]) == 0 {
			args = args[:len(args)-1]
		}
		calls[i].Args = args
	}
	text, err := json.Marshal(calls)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sameJSON(t *testing.T, what, got, want string) {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(got), &x), json.Unmarshal([]byte(want), &y)); err != nil {
		t.Errorf("%s = %s: %v", what, got, err)
	} else if !reflect.DeepEqual(x, y) {
		t.Errorf("%s = %s; want %s", what, got, want)
	}
}
