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

// interpreter is CPython as its runs begin with it. It is safe for concurrent use once it was booted.
type interpreter struct {
	machine *machine.Machine
	data    *snapshot.Image // before any of its code ran; nil where base was there already
	// base is the started interpreter, which waits to be called at the place at; nil where every run starts its own.
	base *snapshot.Image
	at   place
}

// place is where a started interpreter can be called, as addresses of the guest.
type place struct {
	Function  uint32 `json:"function"`  // the object of Python's function serve
	Arguments uint32 `json:"arguments"` // an empty tuple
	Slot      uint32 `json:"slot"`      // in the table of functions: what calls an object of that type
	Stack     uint32 `json:"stack"`     // where the stack begins
	Limit     uint32 `json:"limit"`     // where it ends
}

// instances are what the instances of all images may have.
var instances = snapshot.Options{MemoryBytes: MaxMemoryBytes + stackBytes}

// load makes the image that the interpreter starts from.
func (i *interpreter) load() (err error) {
	i.data, err = i.machine.Image(instances)
	return err
}

// boot starts the interpreter and takes a picture of it. Where the picture turns out not to work, each run starts its
// own: slower, and otherwise the same.
func (i *interpreter) boot(ctx context.Context) error {
	if err := i.load(); err != nil {
		return err
	}
	in, err := i.data.Restore(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Discard(ctx)
	s := newSession(ctx, nobody{}, machine.Sources{})
	s.push(guestFiles())
	s.announced = func(fields []string) {
		if i.at, err = locate(in, fields); err == nil {
			i.base, err = in.Capture()
		}
		s.over = true
	}
	_ = s.launch(in) // how it ended does not matter: it was to be stopped
	if ctx.Err() != nil {
		return engine.EndOf(ctx)
	}
	if !s.over {
		return unusable("it did not start")
	}
	if i.base != nil && i.answers(ctx) != nil {
		err = i.base.Close(ctx)
		i.base = nil
		return err
	}
	return nil
}

// The layout of objects in CPython 3.12 where a pointer has four bytes: ob_type of PyObject, tp_call of PyTypeObject.
const (
	typeOffset = 4
	callOffset = 64
)

// locate finds where the interpreter is to be called, and gives it a stack: what it announced are the addresses of a
// function, of an empty tuple and of the type of functions, and its recursion limit.
func locate(in *snapshot.Instance, announced []string) (at place, err error) {
	var told [4]uint32
	if len(announced) != len(told) {
		return at, errors.New("python: the interpreter announced something else than three addresses and a limit")
	}
	for n, field := range announced {
		address, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return at, fmt.Errorf("python: the interpreter announced no address: %w", err)
		}
		told[n] = uint32(address)
	}
	memory := in.Guest().Memory()
	if kind, ok := memory.ReadUint32Le(told[0] + typeOffset); !ok || kind != told[2] {
		return at, errors.New("python: objects have another layout than expected")
	}
	slot, ok := memory.ReadUint32Le(told[2] + callOffset)
	if !ok || slot == 0 {
		return at, errors.New("python: types have another layout than expected")
	}
	allowCalls(in, told[3])
	at = place{Function: told[0], Arguments: told[1], Slot: slot}
	at.Stack, at.Limit, err = reserveStack(in)
	return at, err
}

// errRaised is the end of a guest whose own half could not even tell what went wrong.
var errRaised = errors.New("python: the interpreter raised an exception that nothing told")

// call has a started interpreter serve one request. It returns an error where it did not return, or raised.
func (i *interpreter) call(ctx context.Context, in *snapshot.Instance) error {
	stack, err := stackOf(in)
	if err != nil {
		return err
	}
	serve, err := lookUp(in.Guest(), i.at.Slot)
	if err != nil {
		return err
	}
	stack.pointer.Set(uint64(i.at.Stack))
	stack.limit.Set(uint64(i.at.Limit))
	object, err := serve.Call(ctx, uint64(i.at.Function), uint64(i.at.Arguments), 0)
	if err == nil && object[0] == 0 { // no object is an exception
		return errRaised
	}
	return err
}

// lookUp finds a function by its place in the table. wazero panics where there is none of the type.
func lookUp(guest api.Module, slot uint32) (f api.Function, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("python: no function of the right type is at %d: %v", slot, x)
		}
	}()
	i32 := api.ValueTypeI32
	return table.LookupFunction(guest, 0, slot, []api.ValueType{i32, i32, i32}, []api.ValueType{i32}), nil
}

// answers tries the picture: an instance of it must answer what it is asked.
func (i *interpreter) answers(ctx context.Context) error {
	in, err := i.base.Restore(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Discard(ctx)
	const question = `"are you there?"`
	s := newSession(ctx, nobody{}, machine.Sources{})
	s.push("ping\n" + question)
	if err := s.ask(i, in); err != nil {
		return err
	}
	if s.outcome.verb != "done" || string(s.outcome.rest) != question {
		return errors.New("python: the interpreter does not answer")
	}
	return nil
}

func (i *interpreter) close() error { return i.machine.Close(i.base, i.data) }
