package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// turnFlags are the flags of commands that talk to agents or apply their rules.
type turnFlags struct {
	memoryFlags
	isolationFlags
	modelFlags
	metadata, key string
	policy        string
	timeout       time.Duration
	trace, dry    bool
}

// registerConversation registers the flags of all commands that talk to agents.
func (f *turnFlags) registerConversation(cmd *cobra.Command) {
	f.memoryFlags.register(cmd)
	f.workflowFlag(cmd)
	f.isolationFlags.register(cmd)
	f.modelFlags.register(cmd)
	cmd.Flags().StringVar(&f.metadata, "metadata", "", "`JSON`, @file or - to merge into the session's metadata")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "the time limit of a turn, such as 10s (default and maximum: 180s)")
	registerMemoryPolicy(cmd, &f.policy)
	cmd.Flags().BoolVar(&f.trace, "trace", false, "show each memory call with its duration on stderr")
}

// registerRequest registers the flags of commands that send one request.
func (f *turnFlags) registerRequest(cmd *cobra.Command) {
	f.registerConversation(cmd)
	cmd.Flags().StringVar(&f.key, "key", "", "the idempotency `key`: a repeated request with the same key and content returns the result of the first request")
	f.testFlags(cmd, &f.dry)
}

// turnCommands implements the commands that talk to agents.
type turnCommands struct{ baseCommand }

func (tc turnCommands) turn() *cobra.Command {
	var f turnFlags
	var say, event string
	var preview bool
	cmd := &cobra.Command{
		Use:   "turn AGENT",
		Short: "Talk to an agent: perform one turn and print its messages",
		Long: `Perform one turn of a conversation with an agent and print its messages. The turn and the tools that
the turn calls are one transaction: either all changes are stored, or no change is stored. Log lines of tools go to
stderr.

Without --say, the first turn of a session begins the conversation, and a later turn repeats the question of the agent.
Without --session, a new session begins. The id of the session is in the result and on stderr.

See toolrun chat for a conversation with a person.`,
		Example: `  toolrun turn Hotel_Booking --user ann --session s1
  toolrun turn Hotel_Booking --say Lisbon --user ann --session s1
  toolrun turn Hotel_Booking --say "change destination" --session s1 --user ann --json
  toolrun turn Hotel_Booking --say Lisbon --session s1 --user ann --preview
  toolrun turn Hotel_Booking --event tool:list_user_bookings:after --session s1 --user ann --dry-run`,
		Args: takes(1, 1, "the name of an AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if say != "" && event != "" {
				return usagef("omit one of the conflicting flags", "--say cannot be combined with --event")
			}
			t, err := tc.request(cmd, &f, args[0])
			if err != nil {
				return err
			}
			if t.Event = event; say != "" {
				t.Message = &say
			}
			if preview {
				return tc.preview(cmd, &f, t)
			}
			return tc.with(cmd, &f, func(opened *openedApp, _ codeFolder) error { return tc.performTurn(cmd.Context(), opened, t) })
		},
	}
	f.registerRequest(cmd)
	cmd.ValidArgsFunction = tc.projects.completeArg(&f.app, (*project).agentNames)
	cmd.Flags().StringVar(&say, "say", "", "the `text` of the user's message")
	cmd.Flags().StringVar(&event, "event", "", "fire this `event` instead of sending a message")
	cmd.Flags().BoolVar(&preview, "preview", false, "print the first request that the turn would send to a model, with injected facts and instructions; store nothing")
	return cmd
}

// preview prints the first request of a turn to a model.
func (tc turnCommands) preview(cmd *cobra.Command, f *turnFlags, t host.Turn) error {
	if t.Key != "" {
		return usagef("omit one of the conflicting flags", "--key cannot be combined with --preview, which stores no result")
	}
	f.dry = true
	return tc.with(cmd, f, func(opened *openedApp, _ codeFolder) error {
		if err := mustAgent(cmd.Context(), opened.agents, t.Agent); err != nil {
			return err
		}
		result, err := opened.agents.Preview(cmd.Context(), t)
		if result == nil {
			return err
		}
		return errors.Join(tc.out.answer(result, func() error { return tc.out.showPrompt(result) }), err)
	})
}

// showPrompt prints the messages of a request to a model.
func (c *console) showPrompt(r *report.Preview) error {
	if !r.OK {
		return nil
	}
	if r.Prompt == nil {
		return c.say("the turn sends no request to a model")
	}
	var request model.ChatRequest
	if err := json.Unmarshal(r.Prompt.Request, &request); err != nil {
		return err
	}
	for _, m := range request.Messages {
		if err := c.writeText(string(m.Role) + ": " + m.Content); err != nil {
			return err
		}
	}
	return nil
}

// request returns a turn without a message.
func (tc turnCommands) request(cmd *cobra.Command, f *turnFlags, agent string) (t host.Turn, err error) {
	if flag := cmd.Flags().Lookup("timeout"); flag.Changed && f.timeout <= 0 {
		return t, usagef("use a value such as --timeout 10s", "--timeout %s is not positive", f.timeout)
	}
	if f.timeout > host.DefaultTurnTimeout {
		return t, usagef("", "--timeout is %gs; the maximum is %gs", f.timeout.Seconds(), host.DefaultTurnTimeout.Seconds())
	}
	if f.dry && f.key != "" {
		return t, usagef("omit one of the conflicting flags", "--key cannot be combined with --dry-run, which stores no result")
	}
	if f.test && f.key != "" {
		return t, usagef("omit one of them", "--key cannot be combined with --test, which stores no result")
	}
	f.dry = f.dry || f.test
	t = host.Turn{Agent: agent, Caller: f.caller(), Key: f.key, DryRun: f.dry, Timeout: f.timeout, OnLog: runCommand(tc).logLine()}
	if t.Mocks, t.Recalls, err = f.mocks(tc.env); err != nil {
		return t, err
	}
	t.Test, t.Live = f.test, f.live
	if t.MemoryPolicy, err = tc.env.memoryPolicy(cmd.Context(), f.policy); err != nil {
		return t, err
	}
	t.Metadata, err = tc.env.document(cmd.Context(), "--metadata", f.metadata)
	return t, err
}

// The method "with" opens the app of a command that talks to agents and calls the function "body".
// Locations in faults are relative to the folder that the function "body" receives.
func (tc turnCommands) with(cmd *cobra.Command, f *turnFlags, body func(*openedApp, codeFolder) error) (err error) {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.remote() {
		c, err := tc.apps.client(&f.serverFlags, f.app)
		if err != nil {
			return err
		}
		return explainServer(body(&openedApp{appBackend: remoteBackend(c, tc.env), app: f.app}, "."))
	}
	pr, err := tc.projects.openApp(f.app)
	if err != nil {
		return err
	}
	defer pr.close()
	for _, tool := range pr.app.Tools {
		if err := pythonCommands(tc).offer(cmd.Context(), pr, tool.Name, f.isolationFlags); err != nil {
			return err
		}
	}
	tools, err := f.isolationFlags.open(tc.out, tc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	models, err := f.modelFlags.open(tc.env)
	if err != nil {
		return err
	}
	backend, err := pr.database(f.db).open(!f.dry)
	if err != nil {
		return err
	}
	var observers []host.Observer
	if f.trace {
		observers = append(observers, tracer{out: tc.out})
	}
	opened, err := tc.apps.open(cmd.Context(), pr, backend, f.caller(), announceLoads(tc.out, tools.engines), models, observers...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	folder := pr.codeFolder("")
	if err := body(opened, folder); err != nil {
		if _, usage := errors.AsType[*usageError](err); usage {
			return err
		}
		return folder.fault(faultOf(err))
	}
	if !f.dry {
		runCommand(tc).sweep(cmd.Context(), opened.host)
	}
	return nil
}

// performTurn performs a turn and prints its result.
func (tc turnCommands) performTurn(ctx context.Context, opened *openedApp, t host.Turn) error {
	if err := mustAgent(ctx, opened.agents, t.Agent); err != nil {
		return err
	}
	result, err := opened.agents.Turn(ctx, t)
	if result == nil { // no turn was performed
		return err
	}
	if !result.OK {
		tc.out.failedRun = result.TurnID
	}
	if tc.out.json {
		return errors.Join(tc.out.printJSON(result), err)
	}
	if t.Caller.Session == "" && result.Session != "" && !t.DryRun {
		tc.out.note(dim, "note: ", "continue with --session "+result.Session)
	}
	if err := tc.out.showTurn(result, t.Agent); err != nil {
		return err
	}
	if t.DryRun && result.OK {
		return showChanges(tc.out, result.Changes)
	}
	return err
}

// showTurn prints the messages of a turn, and notes for the user.
func (c *console) showTurn(r *report.Turn, agent string) error {
	for _, warning := range r.Warnings {
		if warning != host.InProcessWarning {
			c.warn("%s", warning)
		}
	}
	for _, message := range r.Messages {
		if err := c.writeText(message); err != nil {
			return err
		}
	}
	if !r.OK {
		return nil
	}
	for _, note := range turnNotes(r, agent) {
		c.note(dim, "note: ", note)
	}
	return nil
}

// turnNotes returns notes about the outcome of a turn with an agent.
func turnNotes(r *report.Turn, agent string) (notes []string) {
	if r.Repeated {
		notes = append(notes, "returned the result of turn "+r.TurnID+", which used the same key; the turn was not performed again")
	}
	if r.Blocked && len(r.Messages) == 0 {
		notes = append(notes, "a constraint blocked the turn")
	}
	if r.Agent != agent && r.Agent != "" {
		notes = append(notes, "the conversation continues with "+r.Agent)
	} else if r.Handoff != nil && *r.Handoff != r.Agent {
		notes = append(notes, "the agent passes the conversation to "+*r.Handoff)
	}
	if r.Escalate {
		notes = append(notes, "the agent passes the conversation to a person")
	}
	if r.Done {
		notes = append(notes, "the conversation is complete")
	}
	return notes
}
