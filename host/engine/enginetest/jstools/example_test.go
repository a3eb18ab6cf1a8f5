package jstools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/jstools"
	"github.com/toolrun/toolrun/host/engine/js"
)

func ExampleWrite() {
	source, ok := jstools.Write(enginetest.Sum)
	program, err := js.New().Load(context.Background(), source)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()
	out, err := program.Run(context.Background(), engine.Input{Input: json.RawMessage(`{"a":1,"b":2}`)}, engine.Host{})
	fmt.Println(ok, string(out.Output), err)
	// Output: true {"sum":3} <nil>
}
