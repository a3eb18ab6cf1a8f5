package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	sdkjs "github.com/toolrun/toolrun/sdk/js"
)

// memoryCalls contains calls to memory operations. Some of these calls are invalid.
var memoryCalls = []string{
	`get_content("s")`, `get_content("s", {a: 1})`, `get_content("s", null, {record: true})`, `get_content()`, `get_content(undefined)`, `get_content(null)`, `get_content(1)`,
	`get_content({store: "s"})`, `get_content({options: {record: true}, store_name: "s", projections: {a: 1}})`, `get_content({})`, `get_content([])`,
	`set_content("s", {a: 1})`, `set_content({memory_store_name: "s", data_object: {a: [1]}})`, `set_content({content: 1, value: 2})`, `set_content({store: "s"}, {a: 1})`,
	`delete_content("s")`, `delete_content("s", {}, 1)`, `delete_content({store: "s", nope: 1})`, `delete_content({["n".repeat(100)]: 1})`,
}

// TestArrangeAgrees checks that the engine and the SDK put the arguments of a call in the same
// order. Tests that run in Node use the SDK.
func TestArrangeAgrees(t *testing.T) {
	for _, call := range memoryCalls {
		if got, want := callInEngine(t, call), callInSDK(t, call); got != want {
			t.Errorf("memory.%s is %s; with the SDK it is %s", call, got, want)
		}
	}
}

func callInEngine(t *testing.T, call string) string {
	t.Helper()
	p, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte("await memory." + call)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	seen := "nothing"
	_, err = p.Run(t.Context(), engine.Input{}, engine.Host{Call: func(_ context.Context, c abi.Call) (json.RawMessage, error) {
		seen = shown(t, c.Args)
		return json.RawMessage("null"), nil
	}})
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f.Message
	}
	return seen
}

// shown returns arguments as JSON. If the last arguments are undefined, it omits them.
func shown(t *testing.T, args []json.RawMessage) string {
	t.Helper()
	var parts []string
	for _, arg := range args {
		parts = append(parts, string(arg))
	}
	return strings.TrimRight(strings.Join(parts, ","), ",")
}

// callInSDK runs memory.js. The host of this script records all calls.
func callInSDK(t *testing.T, call string) string {
	t.Helper()
	source, err := sdkjs.Files.ReadFile("memory.js")
	if err != nil {
		t.Fatal(err)
	}
	table, err := json.Marshal(abi.Operations())
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	value, err := vm.RunString(`let seen = "nothing"; const exports = {};
		(function (exports) {` + string(source) + `})(exports);
		const memory = exports.createMemory(` + string(table) + `, {
			call: (name, args) => { seen = args.map((a) => JSON.stringify(a)).join(",").replace(/,+$/, ""); },
			refuse: (name, message) => { seen = name + " " + message; throw new Error(seen); },
		});
		memory.` + call + `; seen`)
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	return value.String()
}
