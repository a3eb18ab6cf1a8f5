package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/session"
)

func (p *program) sessionCommand() *cobra.Command {
	cmd := p.group(&cobra.Command{
		Use:   "session",
		Short: "Start, end and show sessions",
		Example: `  id=$(toolrun session start --user ann --metadata '{"userName": "Ann"}')
  toolrun run greet --user ann --session "$id"
  toolrun session end "$id"`,
	})
	cmd.AddCommand(p.sessionStart(), p.sessionEnd(), p.sessionShow(), p.sessionList())
	return cmd
}

// inSession opens an app for a command about its sessions, which there are without an app file too.
func (p *program) inSession(cmd *cobra.Command, f *memoryFlags, keep bool, body func(context.Context, surface, host.Caller) error) error {
	return p.inWorkspace(cmd, f, p.openProject, keep, func(w *workspace, caller host.Caller) error {
		return body(cmd.Context(), w, caller)
	})
}

func (p *program) sessionStart() *cobra.Command {
	var f memoryFlags
	var metadata string
	var start session.Start
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a session and print its id, or change one that is open",
		Example: `  toolrun session start --user ann
  toolrun session start --session s1 --metadata '{"userName": "Ann"}' --reference call-4711`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if start.Metadata, err = p.document(cmd.Context(), "--metadata", metadata); err != nil {
				return err
			}
			return p.inSession(cmd, &f, true, func(ctx context.Context, s surface, c host.Caller) error {
				started, err := s.StartSession(ctx, c, start)
				if err != nil {
					return err
				}
				return p.answer(started, func() error { return p.say("%s", started.ID) })
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&metadata, "metadata", "", "`JSON`, @file or - to merge into the session's metadata")
	cmd.Flags().StringVar(&start.Reference, "reference", "", "your own `name` for the session")
	cmd.Flags().StringVar(&start.UserReference, "user-reference", "", "your own `name` for the user")
	return cmd
}

func (p *program) sessionEnd() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "end [SESSION]",
		Short:   "End a session: what lived with it is gone, and its id is refused from then on",
		Example: `  toolrun session end s1`,
		Args:    takes(0, 1, "a SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.named(cmd, args); err != nil {
				return err
			}
			return p.inSession(cmd, &f, false, func(ctx context.Context, s surface, c host.Caller) error {
				ended, err := s.EndSession(ctx, c)
				if err != nil {
					return err
				}
				return p.answer(ended, func() error { return p.say("ended %s", ended.ID) })
			})
		},
	}
	f.register(cmd)
	return cmd
}

func (p *program) sessionShow() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "show [SESSION]",
		Short:   "Show a session",
		Example: `  toolrun session show s1 --json`,
		Args:    takes(0, 1, "a SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.named(cmd, args); err != nil {
				return err
			}
			return p.inSession(cmd, &f, false, func(ctx context.Context, s surface, c host.Caller) error {
				found, err := s.Session(ctx, c)
				if err != nil {
					return err
				}
				if c.User != "" && found.User != c.User {
					return abi.Faultf(abi.AccessDenied, "the session belongs to another user")
				}
				return p.answer(found, func() error { return p.showSession(found) })
			})
		},
	}
	f.register(cmd)
	return cmd
}

// named takes the session from the argument, or from the flag that all commands have for it.
func (f *callerFlags) named(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		if f.session != "" && f.session != args[0] {
			return usagef("name it once", "two sessions are named: %q and %q", args[0], f.session)
		}
		f.session = args[0]
	}
	if f.session == "" {
		return usagef("toolrun session list shows the ids", "%s takes the id of a session", cmd.CommandPath())
	}
	return nil
}

func (p *program) showSession(s session.Session) error {
	rows := [][]string{
		{"user", s.User}, {"reference", s.Reference}, {"user reference", s.UserReference},
		{"started", when(&s.Started)}, {"used", when(&s.Used)}, {"ended", when(s.Ended)}, {"metadata", string(s.Metadata)},
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
	return p.table([]string{"session", s.ID}, rows)
}

func (p *program) sessionList() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the app, or those of a user",
		Example: `  toolrun session list
  toolrun session list --user ann --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.inSession(cmd, &f, false, p.listSessions)
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	return cmd
}

func (p *program) listSessions(ctx context.Context, app surface, c host.Caller) error {
	sessions, err := allPages(func(after string) ([]session.Session, string, error) {
		return app.Sessions(ctx, c, after, pageSize)
	})
	if err != nil {
		return err
	}
	return p.answer(sessions, func() error {
		rows := make([][]string, len(sessions))
		for i, s := range sessions {
			rows[i] = []string{s.ID, s.User, when(&s.Started), when(&s.Used), when(s.Ended)}
		}
		return p.table([]string{"SESSION", "USER", "STARTED", "USED", "ENDED"}, rows)
	})
}

// pageSize is how many items of a list are asked for at a time.
const pageSize = 500

// allPages returns the items of all pages of a list.
func allPages[T any](page func(after string) (items []T, next string, err error)) ([]T, error) {
	all := []T{}
	for after := ""; ; {
		items, next, err := page(after)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			return all, nil
		}
		if next == after {
			return nil, abi.Faultf(abi.Unavailable, "the list does not end: a page is followed by itself")
		}
		after = next
	}
}
