package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/hostile/native"
)

// nativeCommand is the argument with which this command is the host of native guests.
const nativeCommand = "native"

// runNative tries the native guests whose names match, with all layers of the wall and with each left out.
func runNative(ctx context.Context, self string, pattern *regexp.Regexp) (all []native.Result, err error) {
	attacks := slices.DeleteFunc(native.Attacks(), func(a native.Attack) bool { return !pattern.MatchString("native/" + a.Name) })
	if len(attacks) == 0 {
		return nil, nil
	}
	missing, err := native.Missing()
	if err != nil {
		return nil, err
	}
	attacks = slices.DeleteFunc(attacks, func(a native.Attack) bool { return native.Needs(a.Name, missing) })
	for _, layer := range append([]string{""}, sandbox.Layers()[1:]...) { // the first is that there is a process at all
		some, err := native.Run(ctx, []string{self, nativeCommand}, attacks, layer)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// nativeCounts sum up what came of native guests.
type nativeCounts struct{ tried, held, triedOff, aliveOff, layers int }

func countNative(results []native.Result) (n nativeCounts) {
	layers := map[string]bool{}
	for _, r := range results {
		if r.Without == "" {
			n.tried++
			if !r.Failed() {
				n.held++
			}
			continue
		}
		layers[r.Without] = true
		n.triedOff++
		if !r.Failed() {
			n.aliveOff++
		}
	}
	n.layers = len(layers)
	return n
}

// printNative writes what failed, and the sums.
func printNative(to io.Writer, results []native.Result) {
	if len(results) == 0 {
		return
	}
	for _, r := range results {
		if r.Failed() {
			fmt.Fprintf(to, "FAIL native/%s without %s: %s, alive: %t, in %d ms\n", r.Attack, orDash(r.Without), r.Answer, r.Alive, r.Took.Milliseconds())
		}
	}
	n := countNative(results)
	fmt.Fprintf(to, "native   %d of %d attacks held by all layers\n", n.held, n.tried)
	fmt.Fprintf(to, "         %d of %d left host and neighbour alive, with each of %d layers left out\n", n.aliveOff, n.triedOff, n.layers)
}
