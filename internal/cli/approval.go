package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/report"
)

// approvalCommands implements commands for effects that wait for an approval. The commands show,
// approve and deny effects.
type approvalCommands struct{ baseCommand }

func (ac approvalCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "approval",
		Short: "List, show, approve and deny effects that wait for an approval",
		Long: `List, show, approve and deny effects that wait for an approval. A tool declares these effects with the
key approval. A run that reaches an effect that requires an approval is paused, and stores nothing until the effect is
approved.`,
		Example: `  toolrun approval list
  toolrun approval approve approval_01JA7Z0B6C7D8E9F0G1H2J3K4M
  toolrun approval deny approval_01JA7Z0B6C7D8E9F0G1H2J3K4M --reason "too expensive"`,
	})
	cmd.AddCommand(ac.list(), ac.show(), ac.approve(), ac.deny())
	return cmd
}

// flags registers the flags of commands that do not execute a tool.
func (ac approvalCommands) flags(cmd *cobra.Command, f *memoryFlags) {
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
}

// The method "with" opens an app and calls the function "body" with the app's approvals.
func (ac approvalCommands) with(cmd *cobra.Command, f *memoryFlags, body func(context.Context, approvalBackend, host.Caller) error) error {
	return ac.apps.with(cmd, f, ac.projects.openApp, false, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.approvals, caller)
	})
}

func (ac approvalCommands) list() *cobra.Command {
	var f memoryFlags
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the effects that wait for an approval",
		Example: `  toolrun approval list --user ann --json`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ac.with(cmd, &f, func(ctx context.Context, b approvalBackend, c host.Caller) error {
				return ac.printList(ctx, b, c, all)
			})
		},
	}
	ac.flags(cmd, &f)
	f.userFlag(cmd)
	cmd.Flags().Lookup("user").Usage = "list only approvals for runs of the user with this `id`"
	cmd.Flags().BoolVar(&all, "all", false, "include approvals that were decided or have expired in the last day")
	return cmd
}

func (ac approvalCommands) printList(ctx context.Context, b approvalBackend, c host.Caller, all bool) error {
	found, err := allPages(func(after string) ([]approval.Approval, string, error) { return b.List(ctx, c, all, after) })
	if err != nil {
		return err
	}
	return ac.out.answer(found, func() error {
		rows := make([][]string, len(found))
		for i, a := range found {
			rows[i] = []string{a.Token, a.User, a.Tool, a.Effect.Describe(a.Binding.Step), string(a.State), when(&a.Expires)}
		}
		return ac.out.table([]string{"TOKEN", "USER", "TOOL", "EFFECT", "STATE", "EXPIRES"}, rows)
	})
}

func (ac approvalCommands) show() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "show TOKEN",
		Short:   "Show an effect with its arguments",
		Example: `  toolrun approval show approval_01JA7Z0B6C7D8E9F0G1H2J3K4M`,
		Args:    takes(1, 1, "the TOKEN of an approval"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ac.with(cmd, &f, func(ctx context.Context, b approvalBackend, c host.Caller) error {
				found, err := b.Get(ctx, c, args[0])
				if err != nil {
					return err
				}
				return ac.out.answer(found, func() error { return ac.print(found) })
			})
		},
	}
	ac.flags(cmd, &f)
	return cmd
}

func (ac approvalCommands) print(a approval.Approval) error {
	rows := [][]string{{"state", string(a.State)}, {"tool", a.Tool}, {"run", a.Run}}
	for _, row := range [][]string{{"user", a.User}, {"session", a.Session}, {"step", a.Binding.Step}, {"location", a.Effect.Location}, {"decided by", a.By}, {"reason", a.Reason}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	rows = append(rows, []string{"requested", when(&a.Requested)}, []string{"expires", when(&a.Expires)}, []string{"effect", a.Effect.Operation})
	if a.Effect.Arguments != nil {
		rows = append(rows, []string{"arguments", string(a.Effect.Arguments)})
	}
	return ac.out.table([]string{"approval", a.Token}, rows)
}

func (ac approvalCommands) approve() *cobra.Command {
	var f turnFlags
	cmd := &cobra.Command{
		Use:   "approve TOKEN",
		Short: "Approve an effect and continue its run",
		Long: `Approve an effect, execute its run again, and print the output of the tool as JSON. If the run reaches
another effect that requires an approval, the run is paused again, with a new token.`,
		Example: `  toolrun approval approve approval_01JA7Z0B6C7D8E9F0G1H2J3K4M`,
		Args:    takes(1, 1, "the TOKEN of an approval"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return turnCommands(ac).with(cmd, &f, func(opened *openedApp, code codeFolder) error {
				result, err := opened.approvals.Approve(cmd.Context(), f.caller(), args[0])
				if result == nil {
					return err
				}
				if err := runCommand(ac).printResult(result, code, false); err != nil {
					return err
				}
				if err != nil {
					return code.fault(faultOf(err))
				}
				return pausedError(result, nil, pausedFlagsOf(cmd))
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.isolationFlags.register(cmd)
	f.modelFlags.registerFile(cmd)
	return cmd
}

func (ac approvalCommands) deny() *cobra.Command {
	var f memoryFlags
	var reason string
	cmd := &cobra.Command{
		Use:     "deny TOKEN",
		Short:   "Deny an effect, so that the run fails and stores nothing",
		Example: `  toolrun approval deny approval_01JA7Z0B6C7D8E9F0G1H2J3K4M --reason "too expensive"`,
		Args:    takes(1, 1, "the TOKEN of an approval"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ac.with(cmd, &f, func(ctx context.Context, b approvalBackend, c host.Caller) error {
				result, err := b.Deny(ctx, c, args[0], reason)
				if err != nil {
					return err
				}
				return ac.out.answer(result, func() error { return ac.out.say("denied %s", args[0]) })
			})
		},
	}
	ac.flags(cmd, &f)
	cmd.Flags().StringVar(&reason, "reason", "", "the `text` that the fault of the run contains")
	return cmd
}

// pausedFlags contains the flags of the commands that show and approve the effect of a paused run,
// as text for a shell.
type pausedFlags struct{ show, approve string }

func pausedFlagsOf(cmd *cobra.Command) pausedFlags {
	where := usedFlags(cmd, "app", "db", "tenant", "server", "key-file", "ca")
	return pausedFlags{where, where + usedFlags(cmd, "models", "inprocess", "python-wasm")}
}

// pausedError returns an error for a paused run, with a hint that contains commands that the user
// can copy. If the run is not paused, pausedError returns err.
func pausedError(result *report.Result, err error, flags pausedFlags) error {
	if err != nil || result.Status != report.Paused || result.Approval == nil {
		return err
	}
	p := result.Approval
	return abi.Faultf(abi.AccessDenied, "%s requires an approval; the run is paused until %s", p.Effect.Describe(p.Step), when(&p.ExpiresAt)).
		WithHint("show the effect with `toolrun approval show %[1]s%[2]s`, then run `toolrun approval approve %[1]s%[3]s`", p.Token, flags.show, flags.approve)
}
