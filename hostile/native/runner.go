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

// hostPatience is the time limit for all attacks on one host together.
const hostPatience = 5 * time.Minute

// Run runs attacks. The argument "without" is the disabled layer, or "" if no layer is disabled.
// Each host is a separate process. The argument "command" must be a program that passes its
// arguments to Main. If an attack ends the host, a new host is started for the next attack.
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

// runHost starts a host, waits until the host ends, and returns the results. runHost returns at
// least one result.
func runHost(ctx context.Context, command []string, dir string, attacks []Attack, without string) ([]Result, error) {
	args := append(append([]string{}, command[1:]...), dir, without)
	for _, a := range attacks {
		args = append(args, a.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, hostPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &stderr, time.Second
	exit := cmd.Run()
	results, begun, err := parse(&out)
	if err != nil {
		return nil, err
	}
	switch {
	case exit == nil && len(results) == len(attacks):
		return results, nil
	case begun == len(results)+1: // the host ended during an attack
		return append(results, Result{Attack: attacks[len(results)].Name, Without: without, Answer: fmt.Sprintf("the host ended: %v", exit)}), nil
	case len(results) > 0 && begun == len(results):
		results[len(results)-1].Alive, results[len(results)-1].Answer = false, fmt.Sprintf("the host ended after the attack: %v", exit)
		return results, nil
	}
	return nil, fmt.Errorf("start host: %w: %s", exit, stderr.String())
}

// parse reads the output of Main. It returns the Results of the attacks and the number of started
// attacks.
func parse(out *bytes.Buffer) (results []Result, begun int, err error) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "# ") {
			begun++
			continue
		}
		var r Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, 0, fmt.Errorf("read host result: %w", err)
		}
		results = append(results, r)
	}
	return results, begun, nil
}
