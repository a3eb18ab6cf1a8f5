package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// fuzzAll runs every fuzz target of the modules sequentially.
func fuzzAll(folders []string, duration string) error {
	for _, folder := range folders {
		packages, err := list(folder)
		if err != nil {
			return err
		}
		for _, pkg := range packages {
			if err := fuzzPackage(folder, pkg, duration); err != nil {
				return err
			}
		}
	}
	return nil
}

func fuzzPackage(folder, pkg, duration string) error {
	listing := exec.Command("go", "test", "-list", "^Fuzz", pkg)
	listing.Dir = folder
	targets, err := listing.Output()
	if err != nil {
		return fmt.Errorf("list fuzz targets of %s: %w", pkg, err)
	}
	for _, target := range strings.Fields(string(targets)) {
		if !strings.HasPrefix(target, "Fuzz") {
			continue
		}
		fmt.Println("fuzz", pkg, target)
		cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", duration, "-fuzzminimizetime", "10x", pkg)
		cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", pkg, target, err)
		}
	}
	return nil
}
