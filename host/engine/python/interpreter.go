package python

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// interpreter is the CPython interpreter from which all runs start. After the method "boot" or
// "resume" has returned, an interpreter is safe for concurrent use.
type interpreter struct {
	machine *machine.Machine
	data    *snapshot.Image // the state before any code ran; nil if base was loaded from a file
	base    *snapshot.Image // the state of the started interpreter; nil if every run starts its own interpreter
	entry   entryPoint      // the entry point of the interpreter in base
}

// entryPoint contains addresses in the guest's memory. The host needs these addresses to call a
// started interpreter.
type entryPoint struct {
	Function  uint32 `json:"function"`  // the address of the Python function "serve"
	Arguments uint32 `json:"arguments"` // an empty tuple
	Slot      uint32 `json:"slot"`      // index of the type's call function in the function table
	Stack     uint32 `json:"stack"`     // the highest address of the C stack
	Limit     uint32 `json:"limit"`     // the lowest valid address of the stack pointer
}

// instances contains the options that all images have.
var instances = snapshot.Options{MemoryBytes: MaxMemoryBytes + stackBytes}

// load creates the image from which the interpreter starts.
func (i *interpreter) load() (err error) {
	i.data, err = i.machine.Image(instances)
	return err
}

// boot starts the interpreter and captures a snapshot of it. If the snapshot does not work, each
// run starts its own interpreter. The results are the same, but the runs are slower.
func (i *interpreter) boot(ctx context.Context) error {
	if err := i.load(); err != nil {
		return err
	}
	in, err := i.data.Restore(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Discard(ctx)
	c := newChannel(ctx, noHandler{}, machine.Sources{})
	c.push(guestFiles())
	c.announced = func(fields []string) {
		if i.entry, err = locate(in, fields); err == nil {
			i.base, err = in.Capture()
		}
		c.over = true
	}
	_ = c.launch(in) // the error is expected, because the channel stops the guest
	if ctx.Err() != nil {
		return engine.FaultFromContext(ctx)
	}
	if !c.over {
		return unusable("the interpreter did not start")
	}
	if i.base != nil && i.answers(ctx) != nil {
		err = i.base.Close(ctx)
		i.base = nil
		return err
	}
	return nil
}

// The offset of ob_type in the C type PyObject, and the offset of tp_call in the C type
// PyTypeObject. The offsets apply to CPython 3.12 with pointers of four bytes.
const (
	typeOffset = 4
	callOffset = 64
)

// locate finds the entry point of the interpreter and reserves a stack. The interpreter reports
// four numbers: the address of a function, the address of an empty tuple, the address of the
// function type, and the recursion limit.
func locate(in *snapshot.Instance, announced []string) (entry entryPoint, err error) {
	var numbers [4]uint32
	if len(announced) != len(numbers) {
		return entry, fmt.Errorf("python: the interpreter reported %d fields; want three addresses and a limit", len(announced))
	}
	for n, field := range announced {
		number, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return entry, fmt.Errorf("python: the interpreter reported an invalid number: %w", err)
		}
		numbers[n] = uint32(number)
	}
	function, arguments, functionType, recursionLimit := numbers[0], numbers[1], numbers[2], numbers[3]
	memory := in.Guest().Memory()
	if kind, ok := memory.ReadUint32Le(function + typeOffset); !ok || kind != functionType {
		return entry, errors.New("python: unexpected layout of objects")
	}
	slot, ok := memory.ReadUint32Le(functionType + callOffset)
	if !ok || slot == 0 {
		return entry, errors.New("python: unexpected layout of types")
	}
	allowCalls(in, recursionLimit)
	entry = entryPoint{Function: function, Arguments: arguments, Slot: slot}
	entry.Stack, entry.Limit, err = reserveStack(in)
	return entry, err
}

// errRaised is the error for a guest that raised an exception but could not report it.
var errRaised = errors.New("python: the interpreter raised an exception without a report")

// call makes a started interpreter process one request. The method returns an error if the guest
// trapped, exited or raised an exception.
func (i *interpreter) call(ctx context.Context, in *snapshot.Instance) error {
	stack, err := stackOf(in)
	if err != nil {
		return err
	}
	serve, err := lookUp(in.Guest(), i.entry.Slot)
	if err != nil {
		return err
	}
	stack.pointer.Set(uint64(i.entry.Stack))
	stack.limit.Set(uint64(i.entry.Limit))
	object, err := serve.Call(ctx, uint64(i.entry.Function), uint64(i.entry.Arguments), 0)
	if err == nil && object[0] == 0 { // a null result represents an exception
		return errRaised
	}
	return err
}

// lookUp returns the function at an index of the function table. If the function at the
// index does not exist or has another type, wazero panics. lookUp recovers the panic.
func lookUp(guest api.Module, slot uint32) (f api.Function, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("python: the function at index %d has the wrong type: %v", slot, x)
		}
	}()
	i32 := api.ValueTypeI32
	return table.LookupFunction(guest, 0, slot, []api.ValueType{i32, i32, i32}, []api.ValueType{i32}), nil
}

// answers checks the snapshot. The snapshot works if an instance of it replies to a request.
func (i *interpreter) answers(ctx context.Context) error {
	in, err := i.base.Restore(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Discard(ctx)
	const question = `"are you there?"`
	c := newChannel(ctx, noHandler{}, machine.Sources{})
	c.push("ping\n" + question)
	if err := c.ask(i, in); err != nil {
		return err
	}
	if c.outcome.verb != "done" || string(c.outcome.rest) != question {
		return errors.New("python: the interpreter does not respond")
	}
	return nil
}

func (i *interpreter) close() error { return i.machine.Close(i.base, i.data) }
