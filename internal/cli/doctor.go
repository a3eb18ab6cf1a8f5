package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// doctorCommand reports the isolation layers of this machine.
type doctorCommand struct{ baseCommand }

func (dc doctorCommand) command() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Show how tools are kept from this machine",
		Long: `Show which layers the wall has, on this machine, between a tool in a cell and everything else: each is on, or off
with the reason. A cell is a process of its own on every system; the other layers are Linux's, and some need a kernel
or permissions that not every machine has. Tools run behind the layers that there are; with --require-isolation
toolrun run insists on all of them but cgroup, which takes a control group of its own, and with --require-layer cgroup on that too.

The exit code is 0 if all layers but cgroup are on, and 5 otherwise.`,
		Example: `  toolrun doctor
  toolrun doctor --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return dc.check() },
	}
}

// check starts a cell and says how it is.
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

// showLayers shows the layers, and fails if one is off that a machine can have without an administrator.
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
	return abi.Faultf(abi.Unavailable, "layers are off on this machine: %s", strings.Join(off, ", ")).
		WithHint("docs/explanation/isolation.md has what to do about each; tools run behind the others, unless --require-isolation is given")
}
