package cli

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// ruleFlags contains the flags of the commands that apply the rules of an agent.
type ruleFlags struct {
	turnFlags
	variables, say string
}

// ruleCommand returns a command that applies the rules of an agent. The function "apply" sends the
// request. The function "show" prints the result as text for people.
func (ac agentCommands) ruleCommand(cmd *cobra.Command, apply func(agentBackend, context.Context, host.Turn, []string) (*report.Evaluation, error), show func(*report.Evaluation) error) *cobra.Command {
	var f ruleFlags
	tc := turnCommands(ac)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := tc.request(cmd, &f.turnFlags, args[0])
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("say") {
			t.Message = &f.say
		}
		text, err := ac.env.document(cmd.Context(), "--vars", f.variables)
		if err != nil {
			return err
		}
		if text != nil {
			if err := json.Unmarshal(text, &t.Variables); err != nil || t.Variables == nil {
				return usagef(`write --vars '{"name": "value"}'`, "--vars is not a JSON object")
			}
		}
		return tc.with(cmd, &f.turnFlags, func(opened *openedApp, _ codeFolder) error {
			if err := mustAgent(cmd.Context(), opened.agents, t.Agent); err != nil {
				return err
			}
			result, err := apply(opened.agents, cmd.Context(), t, args)
			if result == nil {
				return err
			}
			return errors.Join(ac.out.answer(result, func() error { return show(result) }), err)
		})
	}
	f.registerRequest(cmd)
	cmd.ValidArgsFunction = ac.projects.completeArg(&f.app, (*project).agentNames)
	cmd.Flags().StringVar(&f.say, "say", "", "the `text` of the user's message, which the rules read as input")
	cmd.Flags().StringVar(&f.variables, "vars", "", "session variables as `JSON`, @file, or - for standard input (default: the stored ones)")
	return cmd
}

func (ac agentCommands) fire() *cobra.Command {
	return ac.ruleCommand(&cobra.Command{
		Use:   "fire AGENT EVENT",
		Short: "Fire an event and print what the agent recalls",
		Long:  "Fire an event and print the values that the agent recalls. This command is for platforms with their own agent loop. The flow of the agent is not executed.",
		Example: `  toolrun agent fire Hotel_Booking session:start --user ann --session s1
  toolrun agent fire Hotel_Booking tool:list_user_bookings:after --user ann --session s1 --json`,
		Args: takes(2, 2, "the name of an AGENT and an EVENT"),
	}, func(agents agentBackend, ctx context.Context, t host.Turn, args []string) (*report.Evaluation, error) {
		t.Event = args[1]
		return agents.Fire(ctx, t)
	}, func(r *report.Evaluation) error {
		for _, text := range r.Instructions {
			if err := ac.out.writeText(text); err != nil {
				return err
			}
		}
		return ac.showValues(r.Injected)
	})
}

func (ac agentCommands) constraints() *cobra.Command {
	var before string
	cmd := ac.ruleCommand(&cobra.Command{
		Use:   "constraints AGENT",
		Short: "Check the constraints of an agent at a checkpoint",
		Long: `Check the constraints of an agent at a checkpoint, and print the constraints that fail. This command
is for platforms with their own agent loop. The check stops at the first constraint that blocks.`,
		Example: `  toolrun agent constraints Wire_Transfer --vars '{"beneficiary_country": "IR"}' --user ann --session s1
  toolrun agent constraints Wire_Transfer --before 'calling send_wire' --vars @variables.json --user ann --session s1 --json`,
		Args: takes(1, 1, "the name of an AGENT"),
	}, func(agents agentBackend, ctx context.Context, t host.Turn, _ []string) (*report.Evaluation, error) {
		return agents.Check(ctx, t, before)
	}, func(r *report.Evaluation) error {
		for _, failed := range r.Failures {
			if err := ac.out.say("%s: %s: %s: %s", failed.Position, failed.Severity, failed.Rule, failed.Message); err != nil {
				return err
			}
		}
		if r.OK && len(r.Failures) == 0 {
			return ac.out.say("no constraint failed")
		}
		return nil
	})
	cmd.Flags().StringVar(&before, "before", "", "the `checkpoint`: 'calling TOOL' or 'returning results' (default: the constraints of each step)")
	return cmd
}

func (ac agentCommands) triggers() *cobra.Command {
	return ac.ruleCommand(&cobra.Command{
		Use:   "triggers AGENT",
		Short: "Evaluate the triggers of an agent and print what they store",
		Long:  "Evaluate the triggers of an agent, as toolrun does at the end of a turn. This command is for platforms with their own agent loop.",
		Example: `  toolrun agent triggers Hotel_Booking --vars '{"guest_name": "Ann"}' --user ann --session s1
  toolrun agent triggers Hotel_Booking --vars @variables.json --user ann --session s1 --dry-run`,
		Args: takes(1, 1, "the name of an AGENT"),
	}, func(agents agentBackend, ctx context.Context, t host.Turn, _ []string) (*report.Evaluation, error) {
		return agents.Store(ctx, t)
	}, func(r *report.Evaluation) error { return ac.showValues(r.Stored) })
}

// showValues prints the paths and the values of facts.
func (ac agentCommands) showValues(values map[string]any) error {
	var rows [][]string
	for _, path := range slices.Sorted(maps.Keys(values)) {
		text, err := json.Marshal(values[path])
		if err != nil {
			return err
		}
		rows = append(rows, []string{path, shortValue(text)})
	}
	if len(rows) == 0 {
		return ac.out.say("no facts")
	}
	return ac.out.table([]string{"PATH", "VALUE"}, rows)
}
