package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/session"
)

// sessionCommands implements the commands that start, end and show sessions.
type sessionCommands struct{ baseCommand }

func (sc sessionCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "session",
		Short: "Start, end, show and list sessions",
		Example: `  id=$(toolrun session start --user ann --metadata '{"userName": "Ann"}')
  toolrun run greet --user ann --session "$id"
  toolrun session end "$id"`,
	})
	cmd.AddCommand(sc.start(), sc.end(), sc.show(), sc.list())
	return cmd
}

// The method "with" opens an app and passes the app's sessions to the function "body". The method
// "with" does not require an app file.
func (sc sessionCommands) with(cmd *cobra.Command, f *memoryFlags, keep bool, body func(context.Context, sessionBackend, host.Caller) error) error {
	return sc.apps.with(cmd, f, sc.projects.open, keep, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.sessions, caller)
	})
}

func (sc sessionCommands) start() *cobra.Command {
	var f memoryFlags
	var metadata string
	var start session.Start
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start or update a session and print its id",
		Example: `  toolrun session start --user ann
  toolrun session start --session s1 --metadata '{"userName": "Ann"}' --reference call-4711`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if start.Metadata, err = sc.env.document(cmd.Context(), "--metadata", metadata); err != nil {
				return err
			}
			return sc.with(cmd, &f, true, func(ctx context.Context, s sessionBackend, c host.Caller) error {
				started, err := s.Start(ctx, c, start)
				if err != nil {
					return err
				}
				return sc.out.answer(started, func() error { return sc.out.say("%s", started.ID) })
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&metadata, "metadata", "", "`JSON`, @file or - to merge into the session's metadata")
	cmd.Flags().StringVar(&start.Reference, "reference", "", "your own `name` for the session")
	cmd.Flags().StringVar(&start.UserReference, "user-reference", "", "your own `name` for the user")
	return cmd
}

func (sc sessionCommands) end() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "end [SESSION]",
		Short:   "End a session, remove its records, and reject its id from then on",
		Example: `  toolrun session end s1`,
		Args:    takes(0, 1, "a SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.named(cmd, args); err != nil {
				return err
			}
			return sc.with(cmd, &f, false, func(ctx context.Context, s sessionBackend, c host.Caller) error {
				ended, err := s.End(ctx, c)
				if err != nil {
					return err
				}
				return sc.out.answer(ended, func() error { return sc.out.say("ended %s", ended.ID) })
			})
		},
	}
	f.register(cmd)
	return cmd
}

func (sc sessionCommands) show() *cobra.Command {
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
			return sc.with(cmd, &f, false, func(ctx context.Context, s sessionBackend, c host.Caller) error {
				found, err := s.Get(ctx, c)
				if err != nil {
					return err
				}
				if c.User != "" && found.User != c.User {
					return abi.Faultf(abi.AccessDenied, "the session belongs to another user")
				}
				return sc.out.answer(found, func() error { return sc.print(found) })
			})
		},
	}
	f.register(cmd)
	return cmd
}

// named sets the session to the argument of the command. If --session contains a different id,
// named fails. The method also fails if the user has set neither the argument nor the flag
// --session.
func (f *callerFlags) named(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		if f.session != "" && f.session != args[0] {
			return usagef("name only one session", "the command contains two session ids: %q and %q", args[0], f.session)
		}
		f.session = args[0]
	}
	if f.session == "" {
		return usagef("list the IDs with `toolrun session list`", "%s requires the id of a session", cmd.CommandPath())
	}
	return nil
}

func (sc sessionCommands) print(s session.Session) error {
	rows := [][]string{
		{"user", s.User}, {"reference", s.Reference}, {"user reference", s.UserReference},
		{"started", when(&s.Started)}, {"used", when(&s.Used)}, {"ended", when(s.Ended)}, {"metadata", string(s.Metadata)},
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
	return sc.out.table([]string{"session", s.ID}, rows)
}

func (sc sessionCommands) list() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the app or of a user",
		Example: `  toolrun session list
  toolrun session list --user ann --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sc.with(cmd, &f, false, sc.printList)
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	cmd.Flags().Lookup("user").Usage = "list only sessions of the user with this `id`"
	return cmd
}

func (sc sessionCommands) printList(ctx context.Context, s sessionBackend, c host.Caller) error {
	sessions, err := allPages(func(after string) ([]session.Session, string, error) {
		return s.List(ctx, c, after, pageSize)
	})
	if err != nil {
		return err
	}
	return sc.out.answer(sessions, func() error {
		rows := make([][]string, len(sessions))
		for i, s := range sessions {
			rows[i] = []string{s.ID, s.User, when(&s.Started), when(&s.Used), when(s.Ended)}
		}
		return sc.out.table([]string{"SESSION", "USER", "STARTED", "USED", "ENDED"}, rows)
	})
}

// pageSize is the number of items that a command for a list requests in each page.
const pageSize = 500

// allPages returns the items from all pages of a list.
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
			return nil, abi.Faultf(abi.Unavailable, "the server returned the same page again")
		}
		after = next
	}
}
