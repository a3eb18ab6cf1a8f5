package python_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/pythontools"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, enginetest.Config{Engine: sharedEngine(t), Write: pythontools.Write})
}
