package main

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// workloads lists functions that the command "work" exports. The parameter of each function is the
// number of repetitions.
var workloads = []struct {
	name, export string
	times        uint64
	aim          string
}{
	{"a tight loop", "loop", 5_000_000, "at most 1.04"},
	{"calls (fib)", "fib", 27, "at most 1.08"},
	{"SHA-256", "hash", 20_000, "at most 1.08"},
	{"sorting", "sort", 20_000, "at most 1.08"},
}

const (
	bareSuffix      = ", bare wazero"
	rewrittenSuffix = ", stoppable"
	contextSuffix   = ", WithCloseOnContextDone"
)

// cpuBound builds the command "work" and runs each workload in three ways.
func cpuBound(dir string) ([]*measure.Case, func() error, error) {
	code, err := buildPlugin(dir, "work")
	if err != nil {
		return nil, nil, err
	}
	module, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		return nil, nil, err
	}
	rewritten, err := fuel.Rewrite(module, fuel.Options{})
	if err != nil {
		return nil, nil, err
	}
	var cases []*measure.Case
	var runtimes []wazero.Runtime
	for _, way := range []struct {
		suffix  string
		code    []byte
		context bool
	}{{bareSuffix, code, false}, {rewrittenSuffix, rewritten, false}, {contextSuffix, code, true}} {
		r, m, err := instantiate(way.code, way.context)
		if err != nil {
			return nil, nil, err
		}
		runtimes = append(runtimes, r)
		for _, w := range workloads {
			cases = append(cases, &measure.Case{Name: w.name + way.suffix, Workers: 1, Call: func(int, int) error {
				_, err := m.ExportedFunction(w.export).Call(context.Background(), w.times)
				return err
			}})
		}
	}
	return cases, func() (err error) {
		for _, r := range runtimes {
			err = errors.Join(err, r.Close(context.Background()))
		}
		return err
	}, nil
}

// instantiate returns an instance of a plug-in. All calls share this instance, because the
// benchmark must measure only the execution of the plug-in's code.
func instantiate(code []byte, closeOnDone bool) (wazero.Runtime, api.Module, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(closeOnDone))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, nil, err
	}
	_, err := r.NewHostModuleBuilder("toolrun:fuel").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = fuel.Slice }),
			[]api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysNanotime())
	return r, m, err
}
