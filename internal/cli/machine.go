package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

// machineCommands implements the commands that check and format machine files.
type machineCommands struct{ baseCommand }

func (mc machineCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "machine",
		Short: "Check and format the files of machines",
		Long: `Check and format the files of machines. See docs/reference/machines.md for the language. The command
toolrun run executes a machine like any other tool.`,
		Example: `  toolrun machine check answer.machine
  toolrun machine fmt --check *.machine`,
	})
	cmd.AddCommand(mc.check(), mc.format())
	return cmd
}

func (mc machineCommands) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Report every mistake in the files of machines",
		Long: `Report all mistakes in the files of machines at once. A mistake is printed as file:line:column:
message. The command parses the JavaScript code of the steps, and checks the names of steps, inputs and fields in the
code. The command does not execute the code.

The exit code is 2 if there are errors, and 0 if there are only warnings.`,
		Example: `  toolrun machine check answer.machine
  toolrun machine check *.machine --json`,
		Args: takes(1, -1, "at least one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			var found problem.List
			for _, file := range args {
				source, err := mc.env.readFile("the machine", file)
				if err != nil {
					return err
				}
				found = append(found, checkMachine(file, source)...)
			}
			return machineFiles(mc.baseCommand).printChecked(args, found)
		},
	}
}

// checkMachine returns all problems of a machine. If the file has errors, the code of the machine
// is not checked.
func checkMachine(file string, source []byte) problem.List {
	doc, problems := machine.Parse(file, source)
	if problems.Err() == nil {
		problems = append(problems, js.CheckMachine(doc)...)
	}
	return problems.Sorted()
}

func (mc machineCommands) format() *cobra.Command {
	var write, check bool
	cmd := &cobra.Command{
		Use:   "fmt [-w | --check] FILE...",
		Short: "Format the files of machines",
		Long: `Format the files of machines: two spaces for each level, one space between words, at most one blank
line. The formatting does not change the meaning and the comments of a file. The command adds missing indentation. The
formatted text is printed, unless -w or --check is set.`,
		Example: `  toolrun machine fmt answer.machine
  toolrun machine fmt -w *.machine
  toolrun machine fmt --check *.machine`,
		Args: takes(1, -1, "at least one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && check {
				return usagef("choose one of them", "-w cannot be combined with --check")
			}
			return machineFiles(mc.baseCommand).formatFiles(args, write, check)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the formatted text to the files instead of stdout")
	cmd.Flags().BoolVar(&check, "check", false, "list the files that are not formatted, and exit with code 2 if a file is not formatted")
	return cmd
}

// machineFiles returns the commands for the files of machines.
func machineFiles(base baseCommand) languageFiles {
	return languageFiles{base, "machine", func(file string, source []byte) ([]byte, problem.List) {
		text, err := machine.Format(file, source)
		if problems, ok := errors.AsType[problem.List](err); ok {
			return nil, problems
		}
		return text, nil
	}}
}
