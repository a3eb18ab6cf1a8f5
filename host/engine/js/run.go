package js

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// run is one execution of a program. It belongs to the goroutine of Run; only Interrupt of its runtime is
// called from elsewhere. It holds the context of Run, for the functions that a guest calls get none.
type run struct {
	ctx     context.Context
	program *program
	in      engine.Input
	limits  engine.Limits
	host    engine.Host
	vm      *goja.Runtime
	start   time.Time
	random  *rand.Rand // nil for the real one

	parse       nativeFunc   // goja's JSON.parse, taken before guest code ran
	stringify   nativeFunc   // goja's JSON.stringify, likewise
	objectProto *goja.Object // Object.prototype
	context     *goja.Object // what the guest got as its context

	globals        map[string]goja.Value   // those that the guest has used
	intlPrototypes map[string]*goja.Object // of the classes of Intl that the guest has used
	defaultOrder   *intl.Collator          // of localeCompare, once it was called
	localising     []*goja.Object          // the arrays whose toLocaleString is under way
	plainCases     map[string]*goja.Object // toUpperCase and toLowerCase, taken before guest code ran
	modules        map[string]*goja.Object // the exports of the prelude's modules that were needed
	requireFunc    goja.Value              // their require, made with the first of them
	issued         map[*goja.Object]issued // the errors that this run made from faults
	rejected       []*goja.Promise         // the rejected promises that nothing handles
	timers         timers

	cleanHandler *goja.Object      // makes a handler of rejections that cleans
	sources      map[string]string // the texts of regular expressions that were expanded

	losses   []string // warnings about what JSON cannot hold of the output
	readNone bool     // a read answered null
	depth    int      // how many calls of ours are under way, one within the other
	halted   error    // what the host ended the run with; it is not the guest's to see
}

type nativeFunc = func(goja.FunctionCall) goja.Value

var nativeType = reflect.TypeFor[nativeFunc]()

func newRun(ctx context.Context, p *program, in engine.Input, host engine.Host) *run {
	return &run{ctx: ctx, program: p, in: in, limits: in.Limits.WithDefaults(), host: host, vm: goja.New(), start: time.Now()}
}

// prepare makes the runtime what the guest finds.
func (r *run) prepare() {
	r.vm.SetMaxCallStackSize(r.limits.CallDepth)
	r.vm.SetPromiseRejectionTracker(r.trackRejection)
	r.vm.SetParserOptions(onParse(parser.WithDisableSourceMaps, r.refuseCode))
	r.vm.SetRandSource(rand.Float64)
	if r.in.Seed != 0 {
		r.random = rand.New(rand.NewPCG(uint64(r.in.Seed), 0))
		r.vm.SetRandSource(r.random.Float64)
	}
	if !r.in.Now.IsZero() {
		r.vm.SetTimeSource(r.now)
	}
	r.captureIntrinsics()
	r.installGlobals()
	if r.program.localises || namesLocale(r.in.Input) {
		r.installLocales()
	}
	r.mend()
}

// now is the guest's clock. A given time is where it starts from.
func (r *run) now() time.Time {
	if r.in.Now.IsZero() {
		return time.Now()
	}
	return r.in.Now.Add(time.Since(r.start))
}

// onParse makes a parser option that calls before whenever goja starts to parse. The generic type stands for
// goja's unexported one.
func onParse[T any](option func(*T), before func()) func(*T) {
	return func(o *T) {
		before()
		option(o)
	}
}

// refuseCode ends every way from text to code: eval and the constructors of all kinds of functions. Nothing
// in goja bounds what nested source does to the stack of the process.
func (r *run) refuseCode() {
	panic(r.newError("EvalError", "making code from a text is switched off: no eval, no new Function"))
}

// execute runs the tool to its end and collects what it answered.
func (r *run) execute() (engine.Output, error) {
	r.prepare()
	if r.ctx.Done() != nil {
		stop := context.AfterFunc(r.ctx, func() { r.vm.Interrupt(nil) })
		defer stop()
	}
	result, err := r.callEntry()
	if err != nil {
		return engine.Output{}, err
	}
	value, err := r.settle(result)
	if err != nil {
		return engine.Output{}, err
	}
	if err := r.leftover(); err != nil {
		return engine.Output{}, err
	}
	return r.output(value)
}

// leftover is what ends a run although its entry has settled: the host stopped it, or a rejection was not handled.
func (r *run) leftover() error {
	if r.halted != nil {
		return r.halted
	}
	if len(r.rejected) > 0 {
		return r.unhandled(r.rejected[0])
	}
	return nil
}

// callEntry evaluates the script and calls its entry, which may run the tool's first part, or all of it.
func (r *run) callEntry() (goja.Value, error) {
	input, err := r.parseDocument("input", r.in.Input)
	if err != nil {
		return nil, err
	}
	document, err := r.parseDocument("context", r.in.Context)
	if err != nil {
		return nil, err
	}
	r.context = document.(*goja.Object)
	completion, err := r.vm.RunProgram(r.program.code)
	if err != nil {
		return nil, r.failure(err)
	}
	entry, ok := goja.AssertFunction(completion)
	if !ok {
		return nil, abi.Faultf(abi.SourceInvalid, "%s has no function to call", r.program.name)
	}
	arguments := []goja.Value{input, document}
	if r.program.catches {
		arguments = append(arguments, r.makeCleaner())
	}
	result, err := entry(goja.Undefined(), arguments...)
	if err != nil {
		return nil, r.failure(err)
	}
	return result, nil
}

// output writes what the tool answered and what it left in its context.
func (r *run) output(value goja.Value) (out engine.Output, err error) {
	if failed := r.try(func() { out.Output, err = r.encodeOutput(value) }); failed != nil {
		return engine.Output{}, r.failure(failed)
	}
	if err != nil {
		return engine.Output{}, err
	}
	if failed := r.try(func() { out.Context, err = r.contextChanges() }); failed != nil {
		return engine.Output{}, r.failure(failed)
	}
	if err != nil {
		return engine.Output{}, err
	}
	if err := r.leftover(); err != nil { // of guest code that ran while its answer was written
		return engine.Output{}, err
	}
	out.Warnings = slices.Concat(r.program.script.warnings, r.program.script.forgotten, r.losses)
	return out, nil
}

// try runs f, which may run guest code such as getters, and returns what ended it. A panic that is neither the
// guest's nor a stop is passed on.
func (r *run) try(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			err = x
		case *goja.StackOverflowError:
			err = x
		default:
			panic(x)
		}
	}()
	if ex := r.vm.Try(f); ex != nil {
		return ex
	}
	return nil
}

// enter begins a call of ours that may run guest code, and leave ends it. goja counts the frames of JavaScript
// alone: a getter or a method that is a function of ours makes none, and nothing recovers from an overflow of
// the stack of the process.
func (r *run) enter() {
	if r.depth >= r.limits.CallDepth {
		panic(&goja.StackOverflowError{})
	}
	r.depth++
}

func (r *run) leave() { r.depth-- }

// halt ends the run with an error of the host, at once and past every catch and finally of the guest.
func (r *run) halt(err error) {
	if r.halted == nil {
		r.halted = err
	}
	r.vm.Interrupt(nil)
}

// call calls a function of the guest's from within a protected call, where what it throws goes on as a panic.
// goja.Callable would, after the last frame, run the jobs that wait, in the middle of what the caller does.
func (r *run) call(function *goja.Object, this goja.Value, arguments ...goja.Value) goja.Value {
	if function.ExportType() == nativeType {
		return function.Export().(nativeFunc)(goja.FunctionCall{This: this, Arguments: arguments})
	}
	callable, _ := goja.AssertFunction(function)
	value, err := callable(this, arguments...)
	if err != nil {
		panic(err)
	}
	return value
}
