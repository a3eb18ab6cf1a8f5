package toolrun

import (
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Debugf logs a line for debugging. The functions in this file format their arguments like
// fmt.Sprintf. Each line that a tool writes to standard output is logged as info, and each line on
// standard error as error.
func Debugf(format string, args ...any) { logf(abi.LevelDebug, format, args) }

// Infof logs a line about normal operation.
func Infof(format string, args ...any) { logf(abi.LevelInfo, format, args) }

// Warnf logs a line about a problem that does not fail the run.
func Warnf(format string, args ...any) { logf(abi.LevelWarn, format, args) }

// Errorf logs a line about an error. A call of Errorf does not fail the run. To fail the run,
// return an error from the handler.
func Errorf(format string, args ...any) { logf(abi.LevelError, format, args) }

func logf(level abi.Level, format string, args []any) {
	imports.Log(level, fmt.Sprintf(format, args...))
}
