package cli

import (
	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
)

// agentCommands implements commands for agents. The commands list agents, check and format agent
// files, and apply the rules of agents.
type agentCommands struct{ baseCommand }

func (ac agentCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "agent",
		Short: "List agents, check and format the files of agents, and apply their rules",
		Long: `List the agents of an app, check and format the files of agents, and evaluate expressions. See
docs/reference/abl.md for the language. The commands toolrun turn and toolrun chat talk to agents. The commands fire,
constraints and triggers apply the rules of agents without a turn.`,
		Example: `  toolrun agent check booking.abl
  toolrun agent fmt --check agents/*.abl
  toolrun agent eval 'nights * price' --vars '{"nights": 3, "price": 100}'`,
	})
	cmd.AddCommand(ac.list(), ac.check(), ac.format(), ac.eval(), ac.fire(), ac.constraints(), ac.triggers())
	return cmd
}

func (ac agentCommands) check() *cobra.Command {
	var tools []string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Report every mistake in the files of agents",
		Long: `Report all mistakes in the files of agents at once. A mistake is printed as file:line:column: message.
If there are several files, the command also checks handoffs between their agents, and paths that several agents
declare.

The exit code is 2 if there are errors, and 0 if there are only warnings.`,
		Example: `  toolrun agent check booking.abl
  toolrun agent check agents/*.abl --tools search_hotels,book --json`,
		Args: takes(1, -1, "at least one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return ac.checkFiles(cmd, args, tools) },
	}
	cmd.Flags().StringSliceVar(&tools, "tools", nil, "the `names` of the app's tools; a call to any other tool is an error")
	return cmd
}

func (ac agentCommands) checkFiles(cmd *cobra.Command, files, tools []string) error {
	var found problem.List
	var docs []*abl.Document
	for _, file := range files {
		source, err := ac.env.readFile("the agent", file)
		if err != nil {
			return err
		}
		d, problems := abl.Parse(file, source)
		found = append(found, problems...)
		if cmd.Flags().Changed("tools") {
			found = append(found, abl.CheckTools(d, tools)...)
		}
		docs = append(docs, d)
	}
	if len(docs) > 1 {
		found = append(found, abl.CheckAll(docs)...)
	}
	return agentFiles(ac.baseCommand).printChecked(files, found.Sorted())
}
