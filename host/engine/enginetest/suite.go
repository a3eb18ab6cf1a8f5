package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Config configures the suite for the test of one engine.
type Config struct {
	// Engine is the engine under test.
	Engine engine.Engine
	// Write returns the source that implements a Behaviour in a language of the engine. If the
	// language cannot express the Behaviour, Write returns false. The suite then omits the cases
	// that need this Behaviour.
	Write func(b Behaviour) (engine.Source, bool)
	// NoPositions is true if the faults of this language contain no file, line and column.
	NoPositions bool
}

// transport determines how the suite calls an engine: directly, or through a pipe.
type transport struct {
	name   string
	engine engine.Engine
}

// transportsOf returns the ways in which the suite calls an engine. One way is to call the engine
// directly. If the guests run in this process, the other way is to call the engine through a pipe.
func transportsOf(e engine.Engine) []transport {
	if engine.IsIsolated(e) {
		return []transport{{"direct", e}}
	}
	return []transport{{"direct", e}, {"piped", Pipe(e)}}
}

// Run checks that an engine fulfils the contract of package engine. Each case is executed directly.
// If guests run in this process, each case is also executed through a pipe.
func Run(t *testing.T, c Config) {
	for _, tr := range transportsOf(c.Engine) {
		t.Run(tr.name, func(t *testing.T) {
			for _, k := range cases {
				t.Run(k.name, func(t *testing.T) {
					defer leaveOut(t)
					k.check(t, &subject{engine: tr.engine, write: c.Write, noPositions: c.NoPositions})
				})
			}
		})
	}
}

// unsupported is a value for panic. It ends a case if the language cannot express the Behaviour of
// the case. Such a case is not reported as skipped. A skipped case would mean that the test
// environment is incomplete.
type unsupported struct{ Behaviour }

func leaveOut(t *testing.T) {
	switch x := recover().(type) {
	case nil:
	case unsupported:
		t.Logf("the language cannot %s", x.Behaviour)
	default:
		panic(x)
	}
}

// The constant "enough" is the time limit of runs that end by themselves. The constant "short" is
// the time limit of runs that do not end by themselves.
const (
	enough = 30 * time.Second
	short  = 150 * time.Millisecond
)

// errHalt is the error with which the host ends a run, usually at a call to the store "halt".
var errHalt = errors.New("the host ended the run")

// subject is the engine that is tested in one case.
type subject struct {
	engine      engine.Engine
	write       func(Behaviour) (engine.Source, bool)
	noPositions bool
	table       abi.Table // operations of loaded sources; if nil, the default operations
}

// load compiles the source that implements a Behaviour. If the language cannot express the
// Behaviour, the method ends the case.
func (s *subject) load(t *testing.T, b Behaviour) engine.Program {
	t.Helper()
	program, err := s.engine.Load(t.Context(), s.source(t, b))
	if err != nil {
		t.Fatalf("Load(%s) = %v", b, err)
	}
	t.Cleanup(func() {
		if err := program.Close(); err != nil {
			t.Errorf("Close = %v; want no error", err)
		}
	})
	return program
}

func (s *subject) source(t *testing.T, b Behaviour) engine.Source {
	t.Helper()
	src, ok := s.write(b)
	if !ok {
		panic(unsupported{b})
	}
	src.Operations = s.table
	return src
}

// input returns the input that most cases use.
func input() engine.Input {
	return engine.Input{
		Input:   json.RawMessage(`{"a":1,"b":2,"value":"x"}`),
		Context: json.RawMessage(`{"kept":"k","changed":1,"env":{"KEY":"v"},"steps":{"start":{"output":1}}}`),
	}
}

// answer runs a Behaviour once. answer expects that the run returns an output.
func (s *subject) answer(t *testing.T, b Behaviour, in engine.Input, m *Memory) engine.Output {
	t.Helper()
	out, err := run(s.load(t, b), in, m, enough)
	if err != nil {
		t.Fatalf("Run(%s) = %v", b, err)
	}
	return out
}

// fault runs a Behaviour once. fault expects that the run returns a fault.
func (s *subject) fault(t *testing.T, b Behaviour, in engine.Input, m *Memory, code abi.Code) *abi.Fault {
	t.Helper()
	out, err := run(s.load(t, b), in, m, enough)
	return wantFault(t, out, err, code)
}

func wantFault(t *testing.T, out engine.Output, err error, code abi.Code) *abi.Fault {
	t.Helper()
	fault, ok := err.(*abi.Fault)
	if !ok {
		t.Fatalf("Run = %s, %v; want a fault %s", out.Output, err, code)
	}
	if fault.Code != code {
		t.Fatalf("Run = %v; want code %s", fault, code)
	}
	return fault
}

func run(p engine.Program, in engine.Input, m *Memory, limit time.Duration) (engine.Output, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.Run(ctx, in, m.Host())
}

// wantJSON compares two JSON texts. Only their values must be equal, not their layout.
func wantJSON(t *testing.T, what string, got json.RawMessage, want string) {
	t.Helper()
	if !sameJSON(got, json.RawMessage(want)) {
		t.Errorf("%s = %s; want %s", what, got, want)
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
