package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// doctorCommand implements the command that reports which isolation layers are active on this
// machine.
type doctorCommand struct{ baseCommand }

func (dc doctorCommand) command() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check which isolation layers are available",
		Long: `Check which isolation layers this machine provides for tools. The output shows whether each layer is
on, and why a layer is off. A separate worker process is available on every system. The other layers require Linux,
and some require a recent kernel or certain permissions. Tools run with the layers that are available.

With --require-isolation, toolrun run fails unless all layers except cgroup are on. The layer cgroup needs a delegated
control group. To require the layer cgroup, use --require-layer cgroup.

The exit code is 0 if all layers except cgroup are on, and 5 otherwise.`,
		Example: `  toolrun doctor
  toolrun doctor --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return dc.check() },
	}
}

// check starts a worker process and prints the isolation layers of the process.
func (dc doctorCommand) check() error {
	pool, err := engines.NewPool(sandbox.Options{Spares: -1, Logger: dc.out.logger()})
	if err != nil {
		return err
	}
	defer pool.Close()
	report, err := pool.Report()
	if err != nil {
		return err
	}
	return dc.showLayers(report)
}

// showLayers prints the isolation layers. If an inactive layer could be activated without
// administrator rights, showLayers fails.
func (dc doctorCommand) showLayers(report sandbox.Report) error {
	err := dc.out.answer(report, func() error {
		for _, l := range report.Layers {
			state := "off"
			if l.On {
				state = "on"
			}
			if err := dc.out.say("%-3s  %-12s  %s", state, l.Name, l.Detail); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var off []string
	for _, name := range sandbox.Baseline() {
		if !report.On(name) {
			off = append(off, name)
		}
	}
	if len(off) == 0 {
		return nil
	}
	return abi.Faultf(abi.Unavailable, "this machine does not support these isolation layers: %s", strings.Join(off, ", ")).
		WithHint("see docs/explanation/isolation.md for the layers; without --require-isolation, tools run with the remaining layers")
}
