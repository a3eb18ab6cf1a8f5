package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/host/memory"
)

// conformReport is the result of the command "conform".
type conformReport struct {
	File   string                `json:"file"`
	ABI    int                   `json:"abi"`
	Plugin wasm.Description      `json:"plugin"`
	Checks []conformance.Outcome `json:"checks"`
	// StartUS and CallUS are latencies in microseconds. If the plug-in does not conform to the ABI,
	// StartUS and CallUS are 0.
	StartUS float64 `json:"start_us,omitempty"`
	CallUS  float64 `json:"call_us,omitempty"`
	OK      bool    `json:"ok"`
}

// conformCommand implements the command that checks a plug-in against the ABI.
type conformCommand struct{ baseCommand }

func (cc conformCommand) command() *cobra.Command {
	var entry, input string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "conform PLUGIN.wasm",
		Short: "Check a plug-in against the ABI",
		Long: `Check a compiled plug-in against the ABI, without an app. The report contains the imports and exports
of the plug-in, the latency of a fresh start and of a call, and the result of each test of inputs, replies and faults.
To test more of the plug-in, pass an input that the plug-in accepts.`,
		Example: `  toolrun conform counter.wasm
  toolrun conform counter.wasm --input '{"by": 1}' --json`,
		Args: takes(1, 1, "one PLUGIN.wasm"),
		RunE: func(cmd *cobra.Command, args []string) error {
			document, err := cc.env.document(cmd.Context(), "--input", input)
			if err != nil {
				return err
			}
			found, err := cc.check(cmd.Context(), args[0], entry, document)
			if err != nil {
				return err
			}
			if err := cc.out.answer(found, func() error { return cc.print(found, verbose) }); err != nil || found.OK {
				return err
			}
			return abi.Faultf(abi.ToolError, "%s does not conform to the ABI", args[0])
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list every check, including those that pass")
	cmd.Flags().StringVar(&entry, "entry", "", "the exported `function` to call (default: toolrun_run)")
	cmd.Flags().StringVar(&input, "input", "{}", "an input that the plug-in accepts: `JSON`, @file or - for stdin")
	return cmd
}

func (cc conformCommand) check(ctx context.Context, file, entry string, input json.RawMessage) (*conformReport, error) {
	code, err := cc.env.readFile("the plug-in", file)
	if err != nil {
		return nil, err
	}
	src := engine.Source{Path: filepath.Base(file), Code: code, Entry: entry, Operations: memory.Operations()}
	found := &conformReport{File: file, ABI: abi.Version}
	if found.Plugin, err = wasm.Describe(src); err != nil {
		return nil, err
	}
	if found.Checks, err = cc.checkPlugin(ctx, src, input); err != nil {
		return nil, err
	}
	found.OK = !slices.ContainsFunc(found.Checks, func(o conformance.Outcome) bool { return !o.OK })
	if !found.OK {
		return found, nil
	}
	// The conformance checks run in a worker process, but the measurement runs in this process. The
	// measured latency therefore does not include the time for the pipes to a worker.
	program, err := wasm.New(wasm.WithCache(cc.env.cacheFolder("plugins"))).Load(ctx, src)
	if err != nil {
		return nil, err
	}
	defer func() { _ = program.Close() }()
	found.StartUS, found.CallUS = measurePlugin(ctx, program, input)
	return found, nil
}

// checkPlugin runs the conformance checks on the plug-in in a worker process.
func (cc conformCommand) checkPlugin(ctx context.Context, src engine.Source, input json.RawMessage) (_ []conformance.Outcome, err error) {
	// The log is discarded, because some checks make worker processes exit on purpose.
	tools, err := isolationFlags{}.open(cc.out, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	for _, e := range tools.engines {
		if !slices.Contains(e.Info().Extensions, ".wasm") {
			continue
		}
		program, err := e.Load(ctx, src)
		if err != nil {
			return nil, err
		}
		defer func() { _ = program.Close() }()
		return conformance.Check(ctx, program, src.Operations, input), nil
	}
	return nil, errors.New("no engine supports plug-ins")
}

// measurePlugin returns the median latencies of a fresh start and of a call, in microseconds.
func measurePlugin(ctx context.Context, program engine.Program, input json.RawMessage) (start, call float64) {
	const times = 51
	var starts, calls []time.Duration
	double := &conformance.Double{Operations: memory.Operations()}
	answer := engine.Host{Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
		reply, fault := double.Call(call)
		if fault != nil {
			return nil, fault
		}
		return reply, nil
	}}
	for range times {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		t, _ := wasm.Measure(ctx, program, engine.Input{Input: input}, answer) // a failure counts too
		cancel()
		starts, calls = append(starts, t.Start), append(calls, t.Call)
	}
	slices.Sort(starts)
	slices.Sort(calls)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	return micros(starts[times/2]), micros(calls[times/2])
}

func (cc conformCommand) print(c *conformReport, verbose bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a plug-in of ABI version %d, %d bytes, %d KiB of initial memory\n", c.File, c.ABI, c.Plugin.Bytes, c.Plugin.MemoryBytes>>10)
	fmt.Fprintf(&b, "imports  %s\n", strings.Join(c.Plugin.Imports, "\n         "))
	fmt.Fprintf(&b, "exports  %s\n", strings.Join(c.Plugin.Exports, "\n         "))
	if c.OK {
		fmt.Fprintf(&b, "a fresh start takes %.0f µs, a call %.0f µs\n", c.StartUS, c.CallUS)
	}
	failed := 0
	for _, o := range c.Checks {
		if o.Name == "runs" && o.OK {
			fmt.Fprintf(&b, "with this input, the plug-in %s\n", outcomeText(o.Detail))
		}
		if !o.OK {
			failed++
		}
	}
	if verbose {
		listChecks(&b, c.Checks)
	} else {
		listFailures(&b, c.Checks)
	}
	fmt.Fprintf(&b, "%d of %d checks pass\n", len(c.Checks)-failed, len(c.Checks))
	return cc.out.writeText(strings.TrimSuffix(b.String(), "\n"))
}

// listChecks prints one line for each check.
func listChecks(b *strings.Builder, checks []conformance.Outcome) {
	for _, o := range checks {
		if o.OK {
			fmt.Fprintf(b, "ok       %s\n", o.Name)
			continue
		}
		fmt.Fprintf(b, "FAIL     %s: %s\n", o.Name, o.Detail)
	}
}

// listFailures groups failed checks by reason. For each reason, listFailures prints a line with the
// first check that failed for this reason.
func listFailures(b *strings.Builder, checks []conformance.Outcome) {
	failed := map[string]int{}
	for _, o := range checks {
		if !o.OK {
			failed[o.Detail]++
		}
	}
	for _, o := range checks {
		n := failed[o.Detail]
		if o.OK || n == 0 {
			continue
		}
		delete(failed, o.Detail)
		fmt.Fprintf(b, "FAIL     %s: %s\n", o.Name, o.Detail)
		if n > 1 {
			fmt.Fprintf(b, "         %d more checks failed in the same way; use -v to list them\n", n-1)
		}
	}
}

// outcomeText describes the outcome of a run. Some checks expect a failed run.
func outcomeText(detail string) string {
	if strings.HasPrefix(detail, "returns ") {
		return detail
	}
	return "fails: " + detail
}
