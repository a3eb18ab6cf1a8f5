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

// nativeCommand is the argument with which this command runs as a host of native guests.
const nativeCommand = "native"

// runNative runs the native guests whose names match. The first run uses all layers. In each
// further run, one layer is disabled.
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
	for _, layer := range append([]string{""}, sandbox.Layers()[1:]...) { // the first layer is the process itself, which cannot be disabled
		some, err := native.Run(ctx, []string{self, nativeCommand}, attacks, layer)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// nativeCounts contains the numbers of results of native guests.
type nativeCounts struct{ tried, blocked, triedOff, aliveOff, layers int }

func countNative(results []native.Result) (n nativeCounts) {
	layers := map[string]bool{}
	for _, r := range results {
		if r.Without == "" {
			n.tried++
			if !r.Failed() {
				n.blocked++
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

// printNative prints failures and a summary.
func printNative(to io.Writer, results []native.Result) {
	if len(results) == 0 {
		return
	}
	for _, r := range results {
		if r.Failed() {
			fmt.Fprintf(to, "FAIL native/%s without %s: %s, alive: %t, in %d ms\n", r.Attack, dashIfEmpty(r.Without), r.Answer, r.Alive, r.Duration.Milliseconds())
		}
	}
	n := countNative(results)
	fmt.Fprintf(to, "native   all layers block %d of %d attacks\n", n.blocked, n.tried)
	fmt.Fprintf(to, "         host and other guests survive in %d of %d cases, with each of %d layers disabled\n", n.aliveOff, n.triedOff, n.layers)
}
