package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/session"
)

// workflowCommands implements the commands that end and show workflows.
type workflowCommands struct{ baseCommand }

func (wc workflowCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "workflow",
		Short: "End, show and list workflows",
		Long: `End, show and list workflows. A workflow is a tree of runs and sessions. These runs and
sessions share facts: the facts whose scope is execution_tree. A workflow starts with the first run or write that uses the id of the workflow (--workflow).`,
		Example: `  toolrun run plan --user ann --workflow trip-7
  toolrun workflow end trip-7`,
	})
	cmd.AddCommand(wc.end(), wc.show(), wc.list())
	return cmd
}

// The method "with" opens an app and calls the function "body" with the app's workflows. The method
// "with" does not require an app file.
func (wc workflowCommands) with(cmd *cobra.Command, f *memoryFlags, body func(context.Context, workflowBackend, host.Caller) error) error {
	return wc.apps.with(cmd, f, wc.projects.open, false, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.workflows, caller)
	})
}

// flags registers the flags of a command on workflows.
func (wc workflowCommands) flags(cmd *cobra.Command, f *memoryFlags) {
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	cmd.Flags().Lookup("user").Usage = "the `id` of the user who owns the workflows"
}

func (wc workflowCommands) end() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "end WORKFLOW",
		Short:   "End a workflow, remove its facts, and reject its id from then on",
		Example: `  toolrun workflow end trip-7`,
		Args:    takes(1, 1, "a WORKFLOW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.workflow = args[0]
			return wc.with(cmd, &f, func(ctx context.Context, w workflowBackend, c host.Caller) error {
				ended, err := w.End(ctx, c)
				if err != nil {
					return err
				}
				return wc.out.answer(ended, func() error { return wc.out.say("ended %s", ended.ID) })
			})
		},
	}
	wc.flags(cmd, &f)
	return cmd
}

func (wc workflowCommands) show() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "show WORKFLOW",
		Short:   "Show a workflow",
		Example: `  toolrun workflow show trip-7 --json`,
		Args:    takes(1, 1, "a WORKFLOW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.workflow = args[0]
			return wc.with(cmd, &f, func(ctx context.Context, w workflowBackend, c host.Caller) error {
				found, err := w.Get(ctx, c)
				if err != nil {
					return err
				}
				if c.User != "" && found.User != c.User {
					return abi.Faultf(abi.AccessDenied, "the workflow belongs to another user")
				}
				return wc.out.answer(found, func() error { return wc.print(found) })
			})
		},
	}
	wc.flags(cmd, &f)
	return cmd
}

func (wc workflowCommands) print(w session.Workflow) error {
	rows := [][]string{{"user", w.User}, {"started", when(&w.Started)}, {"used", when(&w.Used)}, {"ended", when(w.Ended)}}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
	return wc.out.table([]string{"workflow", w.ID}, rows)
}

func (wc workflowCommands) list() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the workflows of the app or of a user",
		Example: `  toolrun workflow list --user ann --json`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wc.with(cmd, &f, wc.printList)
		},
	}
	wc.flags(cmd, &f)
	return cmd
}

func (wc workflowCommands) printList(ctx context.Context, w workflowBackend, c host.Caller) error {
	workflows, err := allPages(func(after string) ([]session.Workflow, string, error) {
		return w.List(ctx, c, after, pageSize)
	})
	if err != nil {
		return err
	}
	return wc.out.answer(workflows, func() error {
		rows := make([][]string, len(workflows))
		for i, w := range workflows {
			rows[i] = []string{w.ID, w.User, when(&w.Started), when(&w.Used), when(w.Ended)}
		}
		return wc.out.table([]string{"WORKFLOW", "USER", "STARTED", "USED", "ENDED"}, rows)
	})
}
