package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildPlugin compiles a command to a plug-in. The source of the command is in this folder, and the
// plug-in is written to the folder dir. The working directory must be in the module of this
// package.
func buildPlugin(dir, command string) ([]byte, error) {
	file := filepath.Join(dir, command+".wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, "github.com/toolrun/toolrun/bench/wasm/"+command)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the plug-in %s: %w\n%s", command, err, out)
	}
	return os.ReadFile(file)
}
