package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/languages"
)

// cellCommand is what the processes do that run guests. Nobody calls it by hand.
func (p *program) cellCommand() *cobra.Command {
	var serve bool
	cmd := &cobra.Command{
		Use:     "cell",
		Short:   "Run guests for the toolrun that started this one",
		Example: "  toolrun cell --serve",
		Hidden:  true,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if !serve {
				return usagef("toolrun starts such processes by itself", "toolrun cell is not for people")
			}
			return languages.Serve()
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "speak with the parent on stdin and stdout")
	return cmd
}
