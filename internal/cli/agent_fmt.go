package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
)

func (ac agentCommands) format() *cobra.Command {
	var write, check bool
	cmd := &cobra.Command{
		Use:   "fmt [-w | --check] FILE...",
		Short: "Format the files of agents",
		Long: `Format the files of agents: two spaces for each level, one space after a colon, at most one blank
line. The formatting does not change the meaning and the comments of a file. The formatted text is printed, unless -w
or --check is set.`,
		Example: `  toolrun agent fmt booking.abl
  toolrun agent fmt -w agents/*.abl
  toolrun agent fmt --check agents/*.abl`,
		Args: takes(1, -1, "at least one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && check {
				return usagef("choose one of them", "-w cannot be combined with --check")
			}
			return agentFiles(ac.baseCommand).formatFiles(args, write, check)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the formatted text to the files instead of stdout")
	cmd.Flags().BoolVar(&check, "check", false, "list the files that are not formatted, and exit with code 2 if a file is not formatted")
	return cmd
}

// agentFiles returns the commands for the files of agents.
func agentFiles(base baseCommand) languageFiles {
	return languageFiles{base, "agent", func(file string, source []byte) ([]byte, problem.List) {
		text, err := abl.Format(source)
		if problems, ok := errors.AsType[problem.List](err); ok {
			for i := range problems {
				problems[i].File = file
			}
			return nil, problems
		}
		return text, nil
	}}
}
