package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

func (ac agentCommands) list() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents of an app",
		Example: `  toolrun agent list
  toolrun agent list --app plugins/examples/hotel_booking --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ac.apps.with(cmd, &f, ac.projects.openApp, false, func(opened *openedApp, _ host.Caller) error {
				agents, err := opened.agents.List(cmd.Context())
				if err != nil {
					return err
				}
				return ac.out.answer(agents, func() error { return ac.out.table(agentTable(agents)) })
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	return cmd
}

// agentTable returns the column titles and the rows of a table of agents.
func agentTable(agents []apitypes.Agent) (heads []string, rows [][]string) {
	for _, a := range agents {
		rows = append(rows, []string{a.Name, strings.Join(a.Tools, " "), a.Goal})
	}
	return []string{"AGENT", "TOOLS", "GOAL"}, rows
}

// agentNames returns the names of the agents.
func (pr *project) agentNames() []string {
	var names []string
	for _, a := range pr.app.Agents {
		names = append(names, a.Agent.Value)
	}
	return names
}

// mustAgent returns an error if the app does not have an agent.
func mustAgent(ctx context.Context, agents agentBackend, name string) error {
	if _, remote := agents.(remoteAgents); remote { // the server will report the unknown agent
		return nil
	}
	list, err := agents.List(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	if slices.Contains(names, name) {
		return nil
	}
	hint := didYouMean(name, names, "the app declares no agents")
	return &usageError{abi.Faultf(abi.NotFound, "the app has no agent %q", name).WithHint("%s", hint)}
}
