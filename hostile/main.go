// Command hostile runs a corpus of hostile tools against toolrun, and against a naive host beside it: bare goja with
// an interrupt after the deadline, bare wazero, bare python3. After each of toolrun's runs a benign one, on the same database, must
// give the right answer and find every store unchanged.
//
//	cd hostile
//	go run .                 # everything, as a table
//	go run . -run js/regexp  # a part of it
//	go run . -run native/    # native code in locked-down workers
//	go run . -json
//
// Native guests are what somebody could do who has left the sandbox of a language: each attack must be held by all layers of
// the wall together, and with each layer left out the host and its other guests must live.
//
// Tools in Python are left out where toolrun has no interpreter for them: toolrun python install gets one.
//
// It exits with 1 where toolrun failed a case. Linux only: it reads what processes do from /proc.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"

	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/hostile/baseline"
	"github.com/toolrun/toolrun/hostile/corpus"
	"github.com/toolrun/toolrun/hostile/native"
)

func main() {
	sandbox.Main(native.Languages()...)
	if len(os.Args) > 1 && os.Args[1] == "naive" {
		os.Exit(baseline.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == nativeCommand {
		if err := native.Main(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "hostile:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "hostile:", err)
	}
	if err != nil || failed {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("run", "", "run the cases whose names match this `expression`")
	walled := flags.Bool("walled", true, "run them against toolrun")
	bare := flags.Bool("naive", true, "run them against a naive host")
	noWall := flags.Bool("no-wall", false, "leave out, of toolrun's, the cases that need a process wall, as with -flag --inprocess")
	extra := flags.String("flag", "", "a `flag` to add to each command of toolrun run")
	binary := flags.String("toolrun", "", "the `file` to test (default: it is built)")
	guests := flags.Bool("native", true, "try native guests in locked-down workers, with each layer of the wall left out in turn")
	workers := flags.Int("j", runtime.NumCPU(), "how many to run at once")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return false, err
	}
	all, err := corpus.All()
	if err != nil {
		return false, err
	}
	cases := slices.DeleteFunc(all, func(c corpus.Case) bool { return !pattern.MatchString(c.Name) })
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	w, err := newWorld(ctx, *binary, self)
	if err != nil {
		return false, err
	}
	defer w.close()
	if err := w.preparePython(ctx, cases, stderr); err != nil {
		return false, err
	}
	if *extra != "" {
		w.flags = []string{*extra}
	}
	r := &runner{world: w, workers: *workers, walled: *walled, naive: *bare, skipWall: *noWall}
	report, err := r.run(ctx, cases)
	if err != nil {
		return false, err
	}
	if *guests {
		if report.Native, err = runNative(ctx, self, pattern); err != nil {
			return false, err
		}
	}
	if *asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return report.Failed(), encoder.Encode(report)
	}
	report.print(stdout)
	return report.Failed(), nil
}
