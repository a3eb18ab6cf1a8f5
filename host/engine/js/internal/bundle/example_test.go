package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

func ExampleBuild() {
	tool := engine.Source{
		Path: "total.ts",
		Code: []byte("import { sum } from './sum'\n\nreturn sum($prices as number[])\n"),
		Files: fstest.MapFS{
			"sum.ts": {Data: []byte("export const sum = (list: number[]) => list.reduce((a, b) => a + b, 0)")},
		},
	}
	b, err := bundle.Build(context.Background(), tool)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run(b, `{"prices": [1, 2, 3]}`, `{}`)
	fmt.Println(b.Form, result, err)

	tool.Code = []byte("import fs from 'node:fs'\nreturn fs.readFileSync('/etc/passwd')")
	_, err = bundle.Build(context.Background(), tool)
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		fmt.Printf("%s:%d:%d: %s\n%s\n", f.File, f.Line, f.Column, f.Message, f.Hint)
	}
	// Output:
	// body 6 <nil>
	// total.ts:1:16: "node:fs" is a Node.js module, which tools cannot use
	// tools have no files: keep data in a store, or import it from a .json file
}
