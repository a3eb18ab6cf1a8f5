package js

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// run is one execution of a program. Only the goroutine of the method Run may use a run. The only
// exception is the runtime's method Interrupt, which other goroutines can call. The fields contain
// values instead of pointers, so unused parts of a run need no allocation.
type run struct {
	program *program
	in      engine.Input
	realm   realm
	random  *rand.Rand   // has the input's seed; nil selects the system's random source
	context *goja.Object // the context that the guest received
	losses  []string     // warnings about output values that JSON cannot represent

	globals map[string]goja.Value // the globals that the guest has used
	prelude prelude
	loop    eventLoop
	errors  errorMapper
	cleaner errorCleaner
	regexps regexps
	memory  memoryAPI
	console console
}

func newRun(ctx context.Context, p *program, in *engine.Input, host *engine.Host) *run {
	r := &run{program: p, in: *in}
	js := &r.realm
	*js = realm{ctx: ctx, vm: goja.New(), limits: in.Limits.WithDefaults(), start: time.Now(), base: in.Now, frozen: in.Frozen, freezes: p.freezes}
	r.prelude.realm = js
	r.regexps = regexps{realm: js, patterns: p.patterns}
	r.cleaner = errorCleaner{realm: js, regexps: &r.regexps}
	r.errors = errorMapper{realm: js, program: p, prelude: &r.prelude, cleaner: &r.cleaner}
	r.loop = eventLoop{realm: js, errors: &r.errors, cleaner: &r.cleaner}
	r.memory = memoryAPI{realm: js, errors: &r.errors, operations: p.operations, host: host.Call}
	r.memory.external = externalCalls{begin: host.Begin, await: host.Await}
	r.loop.memory = &r.memory
	r.console = console{realm: js, program: p, prelude: &r.prelude, write: host.Log}
	return r
}

// prepare sets up the runtime for the guest.
func (r *run) prepare() {
	vm := r.realm.vm
	vm.SetMaxCallStackSize(r.realm.limits.CallDepth)
	vm.SetPromiseRejectionTracker(r.loop.trackRejection)
	vm.SetParserOptions(onParse(parser.WithDisableSourceMaps, r.refuseCode))
	vm.SetRandSource(rand.Float64)
	if r.in.Seed != 0 {
		r.random = rand.New(rand.NewPCG(uint64(r.in.Seed), 0))
		vm.SetRandSource(r.random.Float64)
	}
	if !r.in.Now.IsZero() {
		vm.SetTimeSource(r.realm.now)
	}
	r.realm.objectProto = vm.GlobalObject().Prototype()
	if r.program.json {
		replaceJSON(&r.realm, r.program.script.stringifies)
	}
	r.installGlobals()
	if r.program.localises || namesLocale(r.in.Input) {
		(&localePatch{realm: &r.realm}).install()
	}
	r.patch()
}

// onParse returns a parser option. With this option, goja calls the function "before" when goja
// begins to parse. onParse has a type parameter because goja does not export the type of parser
// options.
func onParse[T any](option func(*T), before func()) func(*T) {
	return func(o *T) {
		before()
		option(o)
	}
}

// refuseCode rejects eval and the constructors of all kinds of functions, because these functions
// compile text. goja's parser does not limit how much stack it uses for deeply nested text.
func (r *run) refuseCode() {
	panic(r.realm.newError("EvalError", "`eval` and `new Function` are disabled in tools"))
}

// execute runs the tool until it ends and returns its output.
func (r *run) execute() (engine.Output, error) {
	r.prepare()
	if r.realm.ctx.Done() != nil {
		stop := context.AfterFunc(r.realm.ctx, func() { r.realm.vm.Interrupt(nil) })
		defer stop()
	}
	result, err := r.callEntry()
	if err != nil {
		return engine.Output{}, err
	}
	value, err := r.loop.settle(result)
	if err != nil {
		return engine.Output{}, err
	}
	if err := r.finalError(); err != nil {
		return engine.Output{}, err
	}
	return r.output(value)
}

// finalError returns the error of a run whose entry has settled. finalError returns nil unless the
// host stopped the run or a rejection has no handler.
func (r *run) finalError() error {
	if r.realm.halted != nil {
		return r.realm.halted
	}
	if len(r.loop.rejected) > 0 {
		return r.errors.unhandled(r.loop.rejected[0])
	}
	return nil
}

// callEntry evaluates the script and calls the script's entry function. The tool runs until it ends
// or reaches its first await.
func (r *run) callEntry() (goja.Value, error) {
	input, err := parseDocument(&r.realm, "input", r.in.Input)
	if err != nil {
		return nil, err
	}
	document, err := parseDocument(&r.realm, "context", r.in.Context)
	if err != nil {
		return nil, err
	}
	r.context = document.(*goja.Object)
	completion, err := r.realm.vm.RunProgram(r.program.code)
	if err != nil {
		return nil, r.errors.failure(err)
	}
	entry, ok := goja.AssertFunction(completion)
	if !ok {
		return nil, abi.Faultf(abi.SourceInvalid, "%s requires a function", r.program.name)
	}
	arguments := []goja.Value{input, document}
	if r.program.catches {
		arguments = append(arguments, r.cleaner.function())
	}
	result, err := entry(goja.Undefined(), arguments...)
	if err != nil {
		return nil, r.errors.failure(err)
	}
	return result, nil
}

// output encodes the tool's result and the context changes.
func (r *run) output(value goja.Value) (out engine.Output, err error) {
	if failed := r.realm.try(func() { out.Output, err = r.encodeOutput(value) }); failed != nil {
		return engine.Output{}, r.errors.failure(failed)
	}
	if err != nil {
		return engine.Output{}, err
	}
	if failed := r.realm.try(func() { out.Context, err = r.contextChanges() }); failed != nil {
		return engine.Output{}, r.errors.failure(failed)
	}
	if err != nil {
		return engine.Output{}, err
	}
	if err := r.finalError(); err != nil { // the encoding of the output may have run guest code
		return engine.Output{}, err
	}
	out.Warnings = slices.Concat(r.program.script.warnings, r.program.script.awaitWarnings, r.losses)
	return out, nil
}
