package baseline

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// hostScript runs a tool in the same interpreter.
//
//go:embed host.py
var hostScript string

// python replaces this process with the interpreter of the machine, so that the tool affects the
// process that is watched. It returns only if there is no interpreter. The interpreter has no
// deadline, because it offers no interrupt.
func python(file, input string) error {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	err = syscall.Exec(interpreter, []string{interpreter, "-I", "-c", hostScript, file, input}, os.Environ())
	return fmt.Errorf("execute %s: %w", interpreter, err)
}
