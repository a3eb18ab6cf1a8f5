package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildPlugin compiles a command of this folder, in the module that it is part of, to a plug-in in dir.
func buildPlugin(dir, command string) ([]byte, error) {
	file := filepath.Join(dir, command+".wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, "./"+command)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the plug-in %s: %w\n%s", command, err, out)
	}
	return os.ReadFile(file)
}
