package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

func Example() {
	program, err := js.New().Load(context.Background(), engine.Source{Path: "greet.js", Code: []byte(`
		const prefs = await memory.get_content('userPrefs');
		console.log('greeting in', prefs.lang);
		return { text: (prefs.lang === 'fr' ? 'Bonjour ' : 'Hello ') + input.name };
	`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	host := engine.Host{
		Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"lang":"fr"}`), nil
		},
		Log: func(level abi.Level, text string) error {
			fmt.Println(level, text)
			return nil
		},
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := program.Run(ctx, engine.Input{Input: json.RawMessage(`{"name":"Ada"}`)}, host)
	fmt.Println(string(out.Output), err)
	// Output:
	// info greeting in fr
	// {"text":"Bonjour Ada"} <nil>
}

// If a guest does not catch a fault, the fault keeps its code. It then contains the position in the
// source.
func Example_fault() {
	program, err := js.New().Load(context.Background(), engine.Source{Path: "save.js", Code: []byte(
		"const entry = { text: input.text };\nawait memory.set_content('diary', entry);\n")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	_, err = program.Run(context.Background(), engine.Input{}, engine.Host{
		Call: func(context.Context, abi.Call) (json.RawMessage, error) {
			return nil, abi.Faultf(abi.ReadOnly, "diary can only be read")
		},
	})
	fault := abi.FaultOf(err)
	fmt.Println(errors.Is(err, abi.ReadOnly), fault.File, fault.Line)
	// Output: true save.js 2
}
