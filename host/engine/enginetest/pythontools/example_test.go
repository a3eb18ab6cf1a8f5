package pythontools_test

import (
	"fmt"

	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/pythontools"
)

func ExampleWrite() {
	source, ok := pythontools.Write(enginetest.Sum)
	fmt.Println(source.Path, string(source.Code), ok)
	// Output: tool.py return {'sum': input['a'] + input['b']} true
}
