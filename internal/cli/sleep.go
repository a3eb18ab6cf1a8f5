package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// sleepCommands implements the commands for sleep-time memory.
type sleepCommands struct{ baseCommand }

func (sc sleepCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "sleep",
		Short: "Run, show, pause and retry sleep-time memory",
		Long: `Run, show, pause and retry sleep-time memory, which updates the blocks of a user after a conversation
has settled. An app enables sleep-time memory with the key sleep. The command toolrun serve runs sleep-time memory in
the background.`,
		Example: `  toolrun sleep status
  toolrun sleep run --models models.yaml`,
	})
	cmd.AddCommand(sc.run(), sc.status(),
		sc.act("pause", "Pause sleep-time memory for a tenant, so that no further run begins", sleepBackend.Pause),
		sc.act("resume", "Resume sleep-time memory for a tenant", sleepBackend.Resume),
		sc.act("retry", "Repeat the failed runs of sleep-time memory for a tenant now, for at most 1,000 conversations", sleepBackend.Retry))
	return cmd
}

func (sc sleepCommands) run() *cobra.Command {
	var f turnFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Process the conversations that have settled",
		Long: `Process the conversations that have settled, until none is left. A failed run has an entry in the
ledger, and is repeated later. The command toolrun serve processes conversations in the background.`,
		Example: `  toolrun sleep run --models models.yaml`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return turnCommands(sc).with(cmd, &f, func(opened *openedApp, _ codeFolder) error { return sc.runDue(cmd.Context(), opened.host) })
		},
	}
	f.placeFlags.register(cmd)
	f.tenantFlag(cmd)
	f.isolationFlags.register(cmd)
	f.modelFlags.registerFile(cmd)
	return cmd
}

func (sc sleepCommands) runDue(ctx context.Context, h *host.Host) error {
	if _, err := h.Sleep().Status(ctx, host.Caller{}); err != nil { // works without declared sleep
		return err
	}
	var done host.SleepPass
	for {
		pass, err := h.Sleep().RunDue(ctx)
		if err != nil {
			return err
		}
		if pass == (host.SleepPass{}) {
			break
		}
		done = done.Plus(pass)
	}
	return sc.out.answer(done, func() error {
		return sc.out.say("runs: %d, failed: %d, postponed: %d, dropped: %d", done.Runs, done.Failed, done.Postponed, done.Dropped)
	})
}

func (sc sleepCommands) status() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the conversations that wait for a run",
		Long: `Show how many conversations are due for a run, have not settled yet, have a run in progress, or had a
failed run. The command counts at most 1,000 conversations.`,
		Example: `  toolrun sleep status --json`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sc.with(cmd, &f, sc.print)
		},
	}
	sc.flags(cmd, &f)
	return cmd
}

// act returns a command that performs an action on sleep-time memory. After the action, the command
// prints the state.
func (sc sleepCommands) act(name, short string, act func(sleepBackend, context.Context, host.Caller) error) *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  toolrun sleep " + name + " --tenant acme",
		Args:    takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sc.with(cmd, &f, func(ctx context.Context, s sleepBackend, c host.Caller) error {
				if err := act(s, ctx, c); err != nil {
					return err
				}
				return sc.print(ctx, s, c)
			})
		},
	}
	sc.flags(cmd, &f)
	return cmd
}

func (sc sleepCommands) flags(cmd *cobra.Command, f *memoryFlags) {
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
}

func (sc sleepCommands) with(cmd *cobra.Command, f *memoryFlags, body func(context.Context, sleepBackend, host.Caller) error) error {
	return sc.apps.with(cmd, f, sc.projects.openApp, true, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.sleep, caller)
	})
}

func (sc sleepCommands) print(ctx context.Context, s sleepBackend, c host.Caller) error {
	status, err := s.Status(ctx, c)
	if err != nil {
		return err
	}
	return sc.out.answer(status, func() error {
		paused := "no"
		if status.Paused {
			paused = when(status.Since)
		}
		return sc.out.table([]string{"paused", paused}, [][]string{
			{"due", strconv.Itoa(status.Due)}, {"waiting", strconv.Itoa(status.Waiting)}, {"running", strconv.Itoa(status.Running)},
			{"failed", strconv.Itoa(status.Failed)}, {"next", when(status.Next)},
		})
	})
}

// remoteSleep shows and changes the sleep-time memory of an app at a server.
type remoteSleep struct{ client *client.Client }

// Status describes the sleep-time memory.
func (r remoteSleep) Status(ctx context.Context, _ host.Caller) (host.SleepStatus, error) {
	return sleepStatusOf(r.client.Sleep().Status(ctx))
}

// Pause pauses the runs.
func (r remoteSleep) Pause(ctx context.Context, _ host.Caller) error {
	_, err := r.client.Sleep().Pause(ctx)
	return err
}

// Resume resumes the runs.
func (r remoteSleep) Resume(ctx context.Context, _ host.Caller) error {
	_, err := r.client.Sleep().Resume(ctx)
	return err
}

// Retry makes failed runs due, so that the server executes the runs again.
func (r remoteSleep) Retry(ctx context.Context, _ host.Caller) error {
	_, err := r.client.Sleep().Retry(ctx)
	return err
}

func sleepStatusOf(s *apitypes.SleepStatus, err error) (host.SleepStatus, error) {
	if err != nil {
		return host.SleepStatus{}, err
	}
	return host.SleepStatus(*s), nil
}
