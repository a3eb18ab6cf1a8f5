package js_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/jstools"
	"github.com/toolrun/toolrun/host/engine/js"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, enginetest.Config{Engine: newEngine(t), Write: jstools.Write})
}

// newEngine returns an engine. If the engine panics, the test fails.
func newEngine(t testing.TB) *js.Engine {
	return js.New(js.WithPanicLog(func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }))
}

// newEngineWithPanics returns an engine that keeps its last panic.
func newEngineWithPanics(last *any) *js.Engine {
	return js.New(js.WithPanicLog(func(value any, _ []byte) { *last = value }))
}
