package toolrun

import (
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Debugf logs a line for whoever looks for a fault. The functions of this file format as fmt.Sprintf does. What is
// printed to standard output is logged too, line by line as info, and standard error as error.
func Debugf(format string, args ...any) { logf(abi.LevelDebug, format, args) }

// Infof logs a line of what goes on.
func Infof(format string, args ...any) { logf(abi.LevelInfo, format, args) }

// Warnf logs a line of what should not be, and which the run survives.
func Warnf(format string, args ...any) { logf(abi.LevelWarn, format, args) }

// Errorf logs a line of what went wrong. It does not fail the run; an error that the handler returns does.
func Errorf(format string, args ...any) { logf(abi.LevelError, format, args) }

func logf(level abi.Level, format string, args []any) {
	imports.Log(level, fmt.Sprintf(format, args...))
}
