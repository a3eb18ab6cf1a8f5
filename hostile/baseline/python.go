package baseline

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// hostScript is a Python script that runs a tool in the interpreter that executes the script.
//
//go:embed host.py
var hostScript string

// python replaces this process with the machine's Python interpreter. The parent process therefore
// watches the process that runs the tool. The function returns only if no interpreter exists. The
// interpreter has no deadline, because the host cannot interrupt it.
func python(file, input string) error {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	err = syscall.Exec(interpreter, []string{interpreter, "-I", "-c", hostScript, file, input}, os.Environ())
	return fmt.Errorf("execute %s: %w", interpreter, err)
}
