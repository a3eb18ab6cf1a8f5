// Command behaviours is a plug-in with an entry for each behaviour that is specific to Go.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

type input struct{}

func main() {}

//go:wasmexport panics
func panics() int32 {
	return toolrun.Run(func(input) (any, error) { return paint(0), nil })
}

func paint(pots int) int {
	return 1 / pots // line of the panic
}

//go:wasmexport uncaught
func uncaught() int32 {
	return toolrun.Run(func(input) (any, error) {
		err := get("forbidden") // the fault has the line in get
		return nil, fmt.Errorf("look: %w", err)
	})
}

func get(store string) error {
	_, err := toolrun.GetContent(store, new(any)) // line of the fault
	return err
}

//go:wasmexport goroutines
func goroutines() int32 {
	return toolrun.Run(func(input) (int, error) {
		const workers = 8
		faults := make(chan error)
		for i := range workers {
			go func() { faults <- hold(fmt.Sprint("store", i), strings.Repeat(fmt.Sprint(i), 50_000+i)) }()
		}
		var all []error
		for range workers {
			all = append(all, <-faults)
		}
		return workers, errors.Join(all...)
	})
}

// hold writes and reads a store many times, and fails if it gets the reply to a call of another goroutine.
// The texts are long, so that the garbage collector runs and switches goroutines.
func hold(store, text string) error {
	for range 20 {
		if _, err := toolrun.SetContent(store, text); err != nil {
			return err
		}
		var got string
		if _, err := toolrun.GetContent(store, &got); err != nil || got != text {
			return fmt.Errorf("read %s: unexpected content of %d bytes, error %v", store, len(got), err)
		}
	}
	return nil
}

//go:wasmexport recurse
func recurse() int32 {
	return toolrun.Run(func(input) (int, error) { return dig(1), nil })
}

func dig(n int) int { return dig(n+1) + n }

//go:wasmexport exit
func exit() int32 {
	return toolrun.Run(func(input) (any, error) {
		os.Exit(3)
		return nil, nil
	})
}

//go:wasmexport unknown
func unknown() int32 {
	return toolrun.Run(func(input) (string, error) {
		_, err := toolrun.Call("later_content", "prefs")
		fault, _ := errors.AsType[*abi.Fault](err)
		return string(fault.Code), nil
	})
}
