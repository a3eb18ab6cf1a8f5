package toolslog_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
	"github.com/toolrun/toolrun/abi/guest/go/toolslog"
)

// t replaces the testing.T that an example does not have.
var t testing.TB = exampleTB{}

type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

// Cleanup keeps the function that removes the host, so that the example can call it.
func (exampleTB) Cleanup(f func()) { release = f }

var release func()

func ExampleHandler() {
	h := toolruntest.New(t)
	defer func() { release() }()
	slog.New(toolslog.Handler()).Warn("few left", "item", "tea", "count", 2)
	for _, line := range h.Logs() {
		fmt.Println(line.Level, line.Text)
	}
	// Output: warn few left item=tea count=2
}
