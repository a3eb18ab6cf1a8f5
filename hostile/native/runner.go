//go:build linux && (amd64 || arm64)

package native

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hostPatience is how long a host may take for all attacks.
const hostPatience = 5 * time.Minute

// Run tries attacks with a layer left out, "" for none, each on a host that is a process of its own: command with the
// arguments calls Main. A host that an attack ends is replaced for the next one.
func Run(ctx context.Context, command []string, attacks []Attack, without string) ([]Result, error) {
	dir, err := os.MkdirTemp("", "toolrun-native-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var results []Result
	for len(attacks) > 0 {
		some, err := runHost(ctx, command, dir, attacks, without)
		if err != nil {
			return nil, err
		}
		results, attacks = append(results, some...), attacks[len(some):]
	}
	return results, nil
}

// runHost starts a host and returns the results until it ended: at least one.
func runHost(ctx context.Context, command []string, dir string, attacks []Attack, without string) ([]Result, error) {
	args := append(append([]string{}, command[1:]...), dir, without)
	for _, a := range attacks {
		args = append(args, a.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, hostPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], args...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &words, time.Second
	ended := cmd.Run()
	results, begun, err := parse(&out)
	if err != nil {
		return nil, err
	}
	switch {
	case ended == nil && len(results) == len(attacks):
		return results, nil
	case begun == len(results)+1: // in the midst of one
		return append(results, Result{Attack: attacks[len(results)].Name, Without: without, Answer: fmt.Sprintf("the host ended: %v", ended)}), nil
	case len(results) > 0 && begun == len(results):
		results[len(results)-1].Alive, results[len(results)-1].Answer = false, fmt.Sprintf("the host ended after it: %v", ended)
		return results, nil
	}
	return nil, fmt.Errorf("the host does not start: %w: %s", ended, words.String())
}

// parse reads what Main wrote: the results, and how many attacks were begun.
func parse(out *bytes.Buffer) (results []Result, begun int, err error) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "# ") {
			begun++
			continue
		}
		var r Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, 0, fmt.Errorf("read what a host says: %w", err)
		}
		results = append(results, r)
	}
	return results, begun, nil
}
