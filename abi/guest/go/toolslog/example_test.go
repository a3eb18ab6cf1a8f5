package toolslog_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
	"github.com/toolrun/toolrun/abi/guest/go/toolslog"
)

// t is used in place of a *testing.T, which an example does not have.
var t testing.TB = exampleTB{}

type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

// Cleanup stores the function that removes the host. The example calls it at the end.
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
