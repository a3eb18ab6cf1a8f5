package baseline

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// hostScript runs a tool in the interpreter that it is run by itself.
//
//go:embed host.py
var hostScript string

// python becomes the interpreter of the machine, so that what the tool does to it is done to the process that is looked
// at. It returns only where there is none. The interpreter keeps no deadline: there is no interrupt that it has to offer.
func python(file, input string) error {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	err = syscall.Exec(interpreter, []string{interpreter, "-I", "-c", hostScript, file, input}, os.Environ())
	return fmt.Errorf("become %s: %w", interpreter, err)
}
