package enginetest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// cases contains the test cases of the suite.
var cases = []struct {
	name  string
	check func(t *testing.T, s *subject)
}{
	{"reads input and answers", func(t *testing.T, s *subject) {
		wantJSON(t, "output", s.answer(t, Sum, input(), NewMemory(errHalt)).Output, `{"sum":3}`)
	}},
	{"returns nothing", func(t *testing.T, s *subject) {
		out := s.answer(t, Nothing, input(), NewMemory(errHalt))
		wantJSON(t, "output", out.Output, `null`)
		if len(out.Context) != 0 {
			t.Errorf("context = %s; want none", out.Context)
		}
	}},
	{"values round-trip unchanged", values},
	{"throws", func(t *testing.T, s *subject) {
		f := s.fault(t, Throw, input(), NewMemory(errHalt), abi.ToolError)
		if !strings.Contains(f.Message, "broken") {
			t.Errorf("message = %q; want the message of the error", f.Message)
		}
		s.wantPosition(t, f, Throw, 3)
	}},
	{"logs with level", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		s.answer(t, Print, input(), m)
		got := m.Logs()
		if len(got) != 2 || got[0].Text != "one" || got[0].Level != abi.LevelInfo ||
			got[1].Text != "two" || got[1].Level != abi.LevelWarn {
			t.Errorf("logs = %+v; want one as info and two as warn", got)
		}
	}},
	{"gets, then sets", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		p := s.load(t, Count)
		for want := 1; want <= 2; want++ {
			out, err := run(p, input(), m, enough)
			if err != nil {
				t.Fatalf("Run = %v", err)
			}
			wantJSON(t, "output", out.Output, strconv.Itoa(want))
		}
		if got := len(m.Calls()); got != 4 {
			t.Errorf("calls = %d; want 4", got)
		}
	}},
	{"deletes", func(t *testing.T, s *subject) {
		wantJSON(t, "output", s.answer(t, Remove, input(), NewMemory(errHalt)).Output, `{"success":true,"deleted":false}`)
	}},
	{"catches a fault", func(t *testing.T, s *subject) {
		wantJSON(t, "output", s.answer(t, Catch, input(), NewMemory(errHalt)).Output, `{"code":"access_denied","store":"forbidden",
			"violations":[{"pointer":"/a","keyword":"type","limit":"integer"}]}`)
	}},
	{"an uncaught fault keeps its code", func(t *testing.T, s *subject) {
		f := s.fault(t, Uncaught, input(), NewMemory(errHalt), abi.AccessDenied)
		if f.ID != "1" || f.Store != "forbidden" || f.Hint != "grant it" || len(f.Violations) != 1 {
			t.Errorf("fault = %+v; want the host's fault", f)
		}
		s.wantPosition(t, f, Uncaught, 3)
	}},
	{"a fault raised by the tool is a tool_error", func(t *testing.T, s *subject) {
		if f := s.fault(t, Fake, input(), NewMemory(errHalt), abi.ToolError); f.ID != "" {
			t.Errorf("id = %q; want none", f.ID)
		}
	}},
	{"an unawaited call that fails fails the run", func(t *testing.T, s *subject) {
		s.fault(t, Forget, input(), NewMemory(errHalt), abi.AccessDenied)
	}},
	{"waiting for a promise that never settles", func(t *testing.T, s *subject) {
		s.fault(t, Never, input(), NewMemory(errHalt), abi.ToolError)
	}},
	{"keyword arguments", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		s.answer(t, Keywords, input(), m)
		wantCall(t, m, abi.GetContent, `"prefs"`, `{"a":1}`)
	}},
	{"keyword arguments by alias", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		s.answer(t, Aliases, input(), m)
		wantCall(t, m, abi.SetContent, `"prefs"`, `{"a":1}`)
	}},
	{"an unknown keyword argument", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		wantJSON(t, "output", s.answer(t, Unknown, input(), m).Output, `"invalid_argument"`)
		if n := len(m.Calls()); n != 0 {
			t.Errorf("calls = %d; want none", n)
		}
	}},
	{"an argument that is not JSON", func(t *testing.T, s *subject) {
		m := NewMemory(errHalt)
		wantJSON(t, "output", s.answer(t, BadArgument, input(), m).Output, `"invalid_argument"`)
		if n := len(m.Calls()); n != 0 {
			t.Errorf("calls = %d; want none", n)
		}
	}},
	{"an operation added to the table is callable", addedOperation},
	{"context changes", func(t *testing.T, s *subject) {
		out := s.answer(t, Context, input(), NewMemory(errHalt))
		wantJSON(t, "output", out.Output, `"k"`)
		wantJSON(t, "context", out.Context, `{"added":{"n":1},"changed":2}`)
	}},
	{"a reserved key of the context", func(t *testing.T, s *subject) {
		s.fault(t, Steps, input(), NewMemory(errHalt), abi.OutputInvalid)
	}},
	{"output that is not JSON", func(t *testing.T, s *subject) {
		f := s.fault(t, NotJSON, input(), NewMemory(errHalt), abi.OutputInvalid)
		if !strings.Contains(f.Message, "items[1]") {
			t.Errorf("message = %q; want items[1] in it", f.Message)
		}
	}},
	{"output nested too deeply", func(t *testing.T, s *subject) {
		s.fault(t, Deep, input(), NewMemory(errHalt), abi.OutputInvalid)
		in := input()
		in.Limits.ValueNesting = 300
		s.answer(t, Deep, in, NewMemory(errHalt))
	}},
	{"output too large", func(t *testing.T, s *subject) {
		in := input()
		in.Limits.OutputBytes = 50_000
		s.fault(t, Large, in, NewMemory(errHalt), abi.OutputLimit)
		s.answer(t, Large, input(), NewMemory(errHalt))
	}},
	{"deep recursion", func(t *testing.T, s *subject) {
		s.fault(t, Recurse, input(), NewMemory(errHalt), abi.StackLimit)
	}},
	{"globals are fresh in each run", func(t *testing.T, s *subject) {
		p := s.load(t, Global)
		for range 3 {
			out, err := run(p, input(), NewMemory(errHalt), enough)
			if err != nil {
				t.Fatalf("Run = %v", err)
			}
			wantJSON(t, "output", out.Output, `1`)
		}
	}},
	{"the clock starts at the given time", func(t *testing.T, s *subject) {
		in := input()
		in.Now = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		out := s.answer(t, Clock, in, NewMemory(errHalt))
		got, err := strconv.ParseInt(string(out.Output), 10, 64)
		if late := got - in.Now.UnixMilli(); err != nil || late < 0 || late > enough.Milliseconds() {
			t.Errorf("output = %s; want a time soon after %d", out.Output, in.Now.UnixMilli())
		}
	}},
	{"a frozen clock shows the given time", func(t *testing.T, s *subject) {
		in := input()
		in.Now, in.Frozen = time.Date(2031, 5, 6, 7, 8, 9, 999_900_000, time.UTC), true // 100 µs later, the output would differ
		out := s.answer(t, Clock, in, NewMemory(errHalt))
		if want := strconv.FormatInt(in.Now.UnixMilli(), 10); string(out.Output) != want {
			t.Errorf("output = %s; want %s", out.Output, want)
		}
	}},
	{"a seed repeats random numbers", func(t *testing.T, s *subject) {
		in := input()
		in.Seed = 7
		first := s.answer(t, Random, in, NewMemory(errHalt)).Output
		if again := s.answer(t, Random, in, NewMemory(errHalt)).Output; !sameJSON(first, again) {
			t.Errorf("outputs = %s and %s; want the same", first, again)
		}
		in.Seed = 0
		if other := s.answer(t, Random, in, NewMemory(errHalt)).Output; sameJSON(first, other) {
			t.Errorf("the output without a seed is %s, as with a seed; want another output", other)
		}
	}},
	{"imports a file of the tool", func(t *testing.T, s *subject) {
		wantJSON(t, "output", s.answer(t, Import, input(), NewMemory(errHalt)).Output, `42`)
	}},
	{"a syntax error", func(t *testing.T, s *subject) {
		_, err := s.engine.Load(t.Context(), s.source(t, Broken))
		f := wantFault(t, engine.Output{}, err, abi.SourceInvalid)
		s.wantPosition(t, f, Broken, 3)
	}},
	{"a closed program", func(t *testing.T, s *subject) {
		p := s.load(t, Sum)
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Errorf("the second call to Close = %v; want no error", err)
		}
		if out, err := run(p, input(), NewMemory(errHalt), enough); err == nil {
			t.Errorf("Run = %s after Close; want an error", out.Output)
		}
	}},
	{"an abort by the host cannot be caught", aborted},
	{"an abort by the log cannot be caught", abortedByLog},
	{"an endless loop ends at its deadline", deadline},
	{"cancelled", cancelled},
	{"the cause of a cancellation is kept", cause},
	{"a call that blocks until the run ends", waiting},
	{"concurrent runs share no state", concurrent},
}

// wantPosition expects that a fault is at the given line of the tool's entry file.
func (s *subject) wantPosition(t *testing.T, f *abi.Fault, b Behaviour, line int) {
	t.Helper()
	if s.noPositions {
		return
	}
	if file := s.source(t, b).Path; f.File != file || f.Line != line || f.Column <= 0 {
		t.Errorf("fault at %s:%d:%d; want %s:%d", f.File, f.Line, f.Column, file, line)
	}
}

// wantCall expects exactly one call. It must call the operation op, and its first arguments must be
// args.
func wantCall(t *testing.T, m *Memory, op string, args ...string) {
	t.Helper()
	calls := m.Calls()
	if len(calls) != 1 || calls[0].Op != op {
		t.Fatalf("calls = %v; want one %s", calls, op)
	}
	for i, want := range args {
		wantJSON(t, "argument "+strconv.Itoa(i), calls[0].Arg(i), want)
	}
}

// values passes an input to the guest. values expects that the guest returns this input unchanged.
// The input contains values that a conversion could change.
func values(t *testing.T, s *subject) {
	p := s.load(t, Echo)
	for _, text := range []string{
		`null`, `true`, `0`, `-1.5`, `1e21`, `9007199254740991`, `""`, `"\u0000\u001f\"\\/"`, `"grün 😀 \u2028"`, `[]`, `{}`,
		`[[],[{}],null]`, `{"__proto__":{"a":1},"constructor":1,"toJSON":2,"length":3}`, `{"":1,"1":2,"a b":3}`,
	} {
		in := input()
		in.Input = json.RawMessage(`{"value":` + text + `}`)
		out, err := run(p, in, NewMemory(errHalt), enough)
		if err != nil {
			t.Errorf("Run with %s = %v", text, err)
			continue
		}
		wantJSON(t, "output", out.Output, text)
	}
}

// addedOperation calls an operation that only the operation table contains. addedOperation expects
// that this call succeeds.
func addedOperation(t *testing.T, s *subject) {
	s.table = append(abi.Operations(), abi.Operation{
		Name: "probe_content",
		Verb: abi.Read,
		Params: []abi.Param{
			{Name: "store", Kind: abi.StoreName, Required: true},
			{Name: "question", Kind: abi.JSON},
		},
	})
	out := s.answer(t, Added, input(), NewMemory(errHalt))
	wantJSON(t, "output", out.Output, `{"op":"probe_content","args":["prefs",{"a":1}]}`)
}
