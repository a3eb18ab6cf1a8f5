package host_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
)

// stub is an engine. A test defines the behavior of this engine.
type stub struct {
	load func(context.Context, engine.Source) error
	warm func(context.Context) error
	run  func(context.Context, engine.Host) (engine.Output, error)
}

var _ engine.Warmer = stub{}

func (stub) Info() engine.Info {
	languages := []engine.Language{{Name: "javascript", Title: "JavaScript", Extensions: []string{".js"}}}
	return engine.Info{Name: "stub", Languages: languages, Extensions: []string{".js"}}
}

func (s stub) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	if s.load == nil {
		return s, nil
	}
	if err := s.load(ctx, src); err != nil {
		return nil, err
	}
	return s, nil
}

func (s stub) IsWarm(string) bool                       { return s.warm == nil }
func (s stub) Warm(ctx context.Context, _ string) error { return s.warm(ctx) }
func (stub) Close() error                               { return nil }

func (s stub) Run(ctx context.Context, _ engine.Input, h engine.Host) (engine.Output, error) {
	if s.run == nil {
		return engine.Output{}, nil
	}
	return s.run(ctx, h)
}

// The method "with" returns an option that sets the engine of a host. If the argument "gate" is not
// nil, the option also sets the gate of the host.
func (s stub) with(gate *admission.Gate) func(*host.Options) {
	return func(o *host.Options) { o.Engines, o.Gate = []engine.Engine{s}, gate }
}

// oneAtATime returns a gate that admits one run of each app at a time. A run in the flow "taken"
// already occupies the gate.
func oneAtATime(t *testing.T, taken admission.Flow) *admission.Gate {
	t.Helper()
	gate, err := admission.New(admission.Limits{Running: 4, PerApp: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := gate.Acquire(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	return gate
}
