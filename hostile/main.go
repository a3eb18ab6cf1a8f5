// Command hostile runs a corpus of hostile tools against toolrun and against a baseline host. The
// baseline host consists of plain goja, plain wazero and plain python3. At the deadline, the
// baseline host interrupts goja. After each hostile run, a benign tool runs on the same database.
// The benign tool must return the correct result and find all stores unchanged.
//
//	cd hostile
//	go run .                 # everything, as a table
//	go run . -run js/regexp  # a part of it
//	go run . -run native/    # native code in locked-down workers
//	go run . -json
//
// Native guests behave like an attacker who has escaped from the sandbox of a language. If all
// isolation layers are enabled, each attack must be blocked. If one layer is disabled, the host and
// the other guests must survive.
//
// If toolrun has no Python interpreter, Python tools are skipped. The command "toolrun python
// install" downloads an interpreter.
//
// The exit code is 1 if toolrun failed a case. The command requires Linux, because it reads the
// state of processes from /proc.
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
	if len(os.Args) > 1 && os.Args[1] == "baseline" {
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
	only := flags.String("run", "", "only run cases whose names match this regular `expression`")
	toolrun := flags.Bool("isolated", true, "run the cases against toolrun")
	bare := flags.Bool("baseline", true, "run the cases against the baseline host")
	noIsolation := flags.Bool("no-isolation", false, "skip the cases that require isolated workers, for -flag --inprocess")
	extra := flags.String("flag", "", "a `flag` to add to each command of toolrun run")
	binary := flags.String("toolrun", "", "the toolrun program `file` to test (default: build it)")
	guests := flags.Bool("native", true, "run native guests in locked-down workers, with each isolation layer disabled in turn")
	workers := flags.Int("j", runtime.NumCPU(), "the number of concurrent runs")
	asJSON := flags.Bool("json", false, "print the report as JSON")
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
	w, err := newEnv(ctx, *binary, self)
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
	r := &runner{env: w, workers: *workers, toolrun: *toolrun, baseline: *bare, skipIsolated: *noIsolation}
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
