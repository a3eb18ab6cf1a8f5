// Command suite is a plug-in with an entry for each tool of package enginetest.
package main

import (
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
	"unsafe"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

type input struct {
	A, B  int
	Value json.RawMessage
}

func main() {}

//go:wasmexport sum
func sum() int32 {
	return toolrun.Run(func(in input) (any, error) { return map[string]int{"sum": in.A + in.B}, nil })
}

//go:wasmexport echo
func echo() int32 { return toolrun.Run(func(in input) (any, error) { return in.Value, nil }) }

//go:wasmexport nothing
func nothing() int32 { return toolrun.Run(func(input) (any, error) { return nil, nil }) }

//go:wasmexport throw
func throw() int32 { return toolrun.Run(func(input) (any, error) { return nil, errors.New("broken") }) }

//go:wasmexport print
func printLines() int32 {
	return toolrun.Run(func(input) (any, error) {
		toolrun.Infof("one")
		toolrun.Warnf("two")
		return nil, nil
	})
}

//go:wasmexport count
func count() int32 {
	return toolrun.Run(func(input) (any, error) {
		var c struct {
			N int `json:"n"`
		}
		if _, err := toolrun.GetContent("counter", &c); err != nil {
			return nil, err
		}
		c.N++
		_, err := toolrun.SetContent("counter", c)
		return c.N, err
	})
}

//go:wasmexport remove
func remove() int32 {
	return toolrun.Run(func(input) (any, error) { return toolrun.Call(abi.DeleteContent, "counter", nil) })
}

func get(store string) error {
	var content any
	_, err := toolrun.GetContent(store, &content)
	return err
}

//go:wasmexport catch
func catch() int32 {
	return toolrun.Run(func(input) (any, error) {
		f, ok := errors.AsType[*abi.Fault](get("forbidden"))
		if !ok || !errors.Is(f, abi.AccessDenied) {
			return nil, errors.New("no fault")
		}
		return map[string]any{"code": f.Code, "store": f.Store, "violations": f.Violations}, nil
	})
}

//go:wasmexport uncaught
func uncaught() int32 { return toolrun.Run(func(input) (any, error) { return nil, get("forbidden") }) }

//go:wasmexport fake
func fake() int32 {
	return toolrun.Run(func(input) (any, error) {
		f, _ := errors.AsType[*abi.Fault](get("forbidden"))
		f.Code, f.ID = abi.Conflict, f.ID+"0"
		return nil, f
	})
}

//go:wasmexport halt
func halt() int32 {
	return toolrun.Run(func(input) (any, error) {
		on := func() {
			recover()
			get("after")
			for {
			}
		}
		defer on()
		get("halt")
		on()
		return nil, nil
	})
}

//go:wasmexport log_and_go
func logAndGo() int32 {
	return toolrun.Run(func(input) (any, error) {
		defer get("after")
		toolrun.Infof("stop")
		return nil, get("after")
	})
}

//go:wasmexport spin
func spin() int32 {
	for {
	}
}

//go:wasmexport wait
func wait() int32 { return toolrun.Run(func(input) (any, error) { return nil, get("slow") }) }

//go:wasmexport context
func contextKeys() int32 {
	return toolrun.Run(func(input) (any, error) {
		c, err := toolrun.GetContext()
		if err != nil {
			return nil, err
		}
		var known struct{ Kept string }
		if err := json.Unmarshal(c.Raw, &known); err != nil {
			return nil, err
		}
		return known.Kept, errors.Join(toolrun.SetContext("added", map[string]int{"n": 1}), toolrun.SetContext("changed", 2))
	})
}

//go:wasmexport steps
func steps() int32 {
	return toolrun.Run(func(input) (any, error) { return nil, toolrun.SetContext("steps", struct{}{}) })
}

//go:wasmimport toolrun output_write
func outputWrite(text unsafe.Pointer, size uint32) int32

//go:wasmexport not_json
func notJSON() int32 {
	const text = `{"items":[1,NaN]}`
	return outputWrite(unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

//go:wasmexport bad_argument
func badArgument() int32 {
	return toolrun.Run(func(input) (any, error) {
		_, err := toolrun.SetContent("prefs", map[string]any{"f": func() {}})
		f, _ := errors.AsType[*abi.Fault](err)
		return f.Code, nil
	})
}

//go:wasmexport deep
func deep() int32 {
	return toolrun.Run(func(input) (any, error) {
		return json.RawMessage(strings.Repeat("[", 200) + strings.Repeat("]", 200)), nil
	})
}

//go:wasmexport large
func large() int32 {
	return toolrun.Run(func(input) (any, error) { return strings.Repeat("x", 100_000), nil })
}

var global int

//go:wasmexport global
func globalCount() int32 {
	return toolrun.Run(func(input) (any, error) {
		global++
		return global, nil
	})
}

var kept json.RawMessage

//go:wasmexport keep
func keep() int32 {
	return toolrun.Run(func(in input) (any, error) {
		kept = in.Value
		return kept, get("prefs")
	})
}

//go:wasmexport clock
func clock() int32 {
	return toolrun.Run(func(input) (any, error) { return time.Now().UnixMilli(), nil })
}

//go:wasmexport random
func random() int32 {
	return toolrun.Run(func(input) (any, error) {
		return []any{rand.Int64(), rand.Float64(), cryptorand.Text()}, nil
	})
}
