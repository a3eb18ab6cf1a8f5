package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
)

// ledgerKept is how long the ledger of a database keeps what commands on this machine did: as long as toolrun serve does,
// whose database it may be.
const ledgerKept = 30 * 24 * time.Hour

type ledgerFlags struct {
	memoryFlags
	since, until string
	last         int
	run          string
	query        ledger.Query
}

// ledgerCommand lists entries of the ledger.
type ledgerCommand struct{ baseCommand }

func (l ledgerCommand) command() *cobra.Command {
	var f ledgerFlags
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "List who read and wrote what, oldest first",
		Long: `List runs and rendered prompts, and what operators read, wrote, purged and erased: when, for whom, which stores at
which revisions, and how it ended. Contents are never in the ledger. It keeps an entry for 30 days, or for as long as
toolrun serve --ledger says.

What a command does on this machine is noted in its database, beside what a toolrun serve did with that. A run without a
database is not: one of an app without stores, in no session.`,
		Example: `  toolrun ledger --last 20 --failed
  toolrun ledger --run run_01ARZ3NDEKTSV4RRFFQ69G5FAV
  toolrun ledger --since 24h --writes
  toolrun ledger --user ann --store userPrefs --json
  toolrun ledger --since 2006-01-02T15:04:05Z --limit 1000 --server https://tools.example --key-file key`,
		Args: noLedgerArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(cmd, l.env.Now()); err != nil {
				return err
			}
			return l.apps.with(cmd, &f.memoryFlags, l.project(f.placeFlags), false, func(opened *openedApp, c host.Caller) error {
				if f.run != "" {
					return l.listRun(cmd.Context(), opened.ledger, c, f.run)
				}
				if f.last > 0 {
					return l.listLast(cmd.Context(), opened.ledger, c, f.query, f.last)
				}
				return l.list(cmd.Context(), opened.ledger, c, f.query)
			})
		},
	}
	f.register(cmd)
	l.projects.completeFlag(cmd, "tool", cobra.ShellCompDirectiveNoFileComp, (*project).describedTools)
	l.projects.completeFlag(cmd, "store", cobra.ShellCompDirectiveNoFileComp, func(pr *project) []string { return append(pr.storeNames(), declare.SessionMeta) })
	return cmd
}

func (f *ledgerFlags) register(cmd *cobra.Command) {
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	flags, q := cmd.Flags(), &f.query
	flags.StringVar(&f.run, "run", "", "the entry of the run with this `id`, which a run that fails prints, and no other")
	flags.StringVar(&q.User, "user", "", "what was done for the user with this `id`")
	flags.StringVar(&q.Session, "session", "", "what was done in the session with this `id`")
	flags.StringVar(&q.Tool, "tool", "", "runs of the tool with this `name`")
	flags.StringVar(&q.Store, "store", "", "what read or wrote the store with this `name`")
	flags.StringVar(&f.since, "since", "", "what was done from this `time` on: so long ago, such as 24h or 7d, or a date and time in RFC 3339")
	flags.StringVar(&f.until, "until", "", "what was done before this `time`, which is written as that of --since")
	flags.BoolVar(&q.Writes, "writes", false, "what wrote something")
	flags.BoolVar(&q.Failed, "failed", false, "what ended with a fault")
	flags.IntVar(&f.last, "last", 0, "the newest entries, so `many`, in place of the oldest")
	flags.IntVar(&q.Limit, "limit", 100, "how many entries to list at most")
	flags.StringVar(&q.After, "after", "", "what follows the entry of the run with this `id`")
}

// complete makes the query of the flags.
func (f *ledgerFlags) complete(cmd *cobra.Command, now time.Time) (err error) {
	flags := cmd.Flags()
	switch {
	case f.run != "":
		return f.completeRun(flags)
	case flags.Changed("last") && f.last < 1:
		return usagef("such as --last 20", "--last %d lists nothing", f.last)
	case flags.Changed("last") && (flags.Changed("limit") || flags.Changed("after")):
		return usagef("leave one of them out", "--last does not go with --limit and --after, which count from the oldest entry")
	case f.query.Limit < 1:
		return usagef("leave it out for 100", "--limit %d lists nothing", f.query.Limit)
	}
	if f.query.Since, err = parseMoment("--since", f.since, now); err != nil {
		return err
	}
	if f.query.Until, err = parseMoment("--until", f.until, now); err != nil {
		return err
	}
	if since, until := f.query.Since, f.query.Until; !until.IsZero() && !since.Before(until) {
		return usagef("", "nothing is from --since %s on and before --until %s", f.since, f.until)
	}
	return nil
}

// parseMoment reads a time that a flag gives, as how long ago it was or in RFC 3339; "" is none.
func parseMoment(flag, given string, now time.Time) (time.Time, error) {
	if given == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, given); err == nil {
		return at, nil
	}
	ago, err := time.ParseDuration(given)
	if err != nil { // which knows no days
		var kept declare.Retention
		kept, err = declare.ParseRetention(given)
		ago = kept.For
	}
	if err != nil || ago <= 0 {
		return time.Time{}, usagef("", "%s %q is neither a duration, such as 24h or 7d, nor a time in RFC 3339, such as 2006-01-02T15:04:05Z", flag, given)
	}
	return now.Add(-ago), nil
}

// mostAsked is how many entries a server answers at once.
const mostAsked = 1000

func (l ledgerCommand) list(ctx context.Context, s ledgerBackend, c host.Caller, q ledger.Query) error {
	entries, most, more := []ledger.Entry{}, q.Limit, true
	for more && len(entries) < most {
		q.Limit = min(most-len(entries), mostAsked)
		some, next, rest, err := s.Entries(ctx, c, q)
		if err != nil {
			return err
		}
		entries, q.After, more = append(entries, some...), next, rest
	}
	err := l.out.answer(entries, func() error { return l.print(entries) })
	if more {
		l.out.note(dim, "note: ", fmt.Sprintf("there may be more: --after %s goes on, --limit lists more at once", q.After))
	}
	return err
}

// project is openProject for a folder whose runs may have left something: one with an app file, or with a database.
func (l ledgerCommand) project(f placeFlags) finder {
	return func(named string) (*project, error) {
		pr, err := l.projects.open(named)
		if err != nil || pr.file != "" {
			return pr, err
		}
		if _, err := os.Stat(pr.database(f.db).path); errors.Is(err, fs.ErrNotExist) {
			pr.close()
			return nil, errNoApp
		}
		return pr, nil
	}
}

// listLast lists the newest entries. A ledger is read from a time on, so it looks further and further back.
func (l ledgerCommand) listLast(ctx context.Context, s ledgerBackend, c host.Caller, q ledger.Query, count int) error {
	const first, longest, step = time.Minute, 10 * 365 * 24 * time.Hour, 8
	until, earliest := q.Until, q.Since
	if until.IsZero() {
		until = l.env.Now()
	}
	for back := first; ; back *= step {
		whole := back > longest || !until.Add(-back).After(earliest)
		if q.Since = until.Add(-back); whole {
			q.Since = earliest
		}
		entries, err := newestOf(ctx, s, c, q, count)
		if err != nil {
			return err
		}
		if len(entries) == count || whole {
			return l.out.answer(entries, func() error { return l.print(entries) })
		}
	}
}

// newestOf returns the last entries that a query asks for, at most so many.
func newestOf(ctx context.Context, s ledgerBackend, c host.Caller, q ledger.Query, count int) ([]ledger.Entry, error) {
	entries := []ledger.Entry{}
	q.Limit = mostAsked
	for more := true; more; {
		some, next, rest, err := s.Entries(ctx, c, q)
		if err != nil {
			return nil, err
		}
		entries = append(entries, some...)
		entries = slices.Clone(entries[max(0, len(entries)-count):])
		q.After, more = next, rest
	}
	return entries, nil
}

func (l ledgerCommand) print(entries []ledger.Entry) error {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		outcome, read, wrote := "ok", make([]string, len(e.Reads)), make([]string, len(e.Writes))
		if e.Code != "" {
			outcome = string(e.Code)
		}
		for i, r := range e.Reads {
			read[i] = fmt.Sprintf("%s %d", recordName(r.Store, r.Item), r.Revision)
		}
		for i, w := range e.Writes {
			wrote[i] = fmt.Sprintf("%s %s %d", w.Op, recordName(w.Store, w.Item), w.Revision)
		}
		if e.More > 0 {
			wrote = append(wrote, fmt.Sprintf("and %d more", e.More))
		}
		rows[i] = []string{when(&e.At), e.Act, e.Tool, e.Actor, e.User, e.Session, outcome, strings.Join(read, ", "), strings.Join(wrote, ", "), e.Run}
	}
	return l.out.table([]string{"TIME", "ACT", "TOOL", "ACTOR", "USER", "SESSION", "OUTCOME", "READ", "WROTE", "RUN"}, rows)
}
