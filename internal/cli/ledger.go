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

// ledgerKept is the duration for which the ledger keeps the entries of commands on this machine.
// The duration is equal to the default of "toolrun serve", because the service may use the same
// database.
const ledgerKept = 30 * 24 * time.Hour

type ledgerFlags struct {
	memoryFlags
	since, until string
	last         int
	run          string
	query        ledger.Query
}

// ledgerCommand lists ledger entries.
type ledgerCommand struct{ baseCommand }

func (l ledgerCommand) command() *cobra.Command {
	var f ledgerFlags
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "List the reads and writes of memory, beginning with the oldest",
		Long: `List the runs, the rendered prompts, and the reads, writes, purges and erasures by operators. Each entry
contains the time, the user, the stores with their revisions, and the outcome. The ledger never contains the contents of
records. An entry is kept for 30 days, or for the duration set by toolrun serve --ledger.

Commands without --server write to the ledger of the database that they use, as toolrun serve does. If an app has no
stores, a run without a session needs no database and has no entry.`,
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
	flags.StringVar(&f.run, "run", "", "list only the entry of the run with this `id`, which a failed run prints")
	flags.StringVar(&q.User, "user", "", "list only entries of the user with this `id`")
	flags.StringVar(&q.Session, "session", "", "list only entries of the session with this `id`")
	flags.StringVar(&q.Workflow, "workflow", "", "list only entries of the workflow with this `id`")
	flags.StringVar(&q.Tool, "tool", "", "list only runs of the tool with this `name`")
	flags.StringVar(&q.Store, "store", "", "list only runs and operations that read or wrote the store with this `name`")
	flags.StringVar(&f.since, "since", "", "list only entries from this `time` on: a duration before now, such as 24h or 7d, or a time in RFC 3339 format")
	flags.StringVar(&f.until, "until", "", "list only entries before this `time`, in the same formats as --since")
	flags.BoolVar(&q.Writes, "writes", false, "list only entries with writes")
	flags.BoolVar(&q.Failed, "failed", false, "list only runs and operations that ended with a fault")
	flags.IntVar(&f.last, "last", 0, "list the newest `n` entries instead of the oldest")
	flags.IntVar(&q.Limit, "limit", 100, "the maximum number of entries")
	flags.StringVar(&q.After, "after", "", "list only entries that follow the entry of the run with this `id`")
}

// complete validates the flags and sets the remaining fields of the query.
func (f *ledgerFlags) complete(cmd *cobra.Command, now time.Time) (err error) {
	flags := cmd.Flags()
	switch {
	case f.run != "":
		return f.completeRun(flags)
	case flags.Changed("last") && f.last < 1:
		return usagef("use a value such as --last 20", "--last is %d; expected at least 1", f.last)
	case flags.Changed("last") && (flags.Changed("limit") || flags.Changed("after")):
		return usagef("omit one of the conflicting flags", "--last cannot be combined with --limit or --after, which count from the oldest entry")
	case f.query.Limit < 1:
		return usagef("omit --limit for 100 entries", "--limit is %d; expected at least 1", f.query.Limit)
	}
	if f.query.Since, err = parseMoment("--since", f.since, now); err != nil {
		return err
	}
	if f.query.Until, err = parseMoment("--until", f.until, now); err != nil {
		return err
	}
	if since, until := f.query.Since, f.query.Until; !until.IsZero() && !since.Before(until) {
		return usagef("", "--since %s is not before --until %s", f.since, f.until)
	}
	return nil
}

// parseMoment parses a time in a flag. The flag contains an RFC 3339 time, or a duration that is
// subtracted from the current time. For "", parseMoment returns the zero time.
func parseMoment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := time.ParseDuration(text)
	if err != nil { // time.ParseDuration does not support days
		var kept declare.Retention
		kept, err = declare.ParseRetention(text)
		ago = kept.For
	}
	if err != nil || ago <= 0 {
		return time.Time{}, usagef("", "%s %q is neither a duration such as 24h or 7d, nor an RFC 3339 time such as 2006-01-02T15:04:05Z", flag, text)
	}
	return now.Add(-ago), nil
}

// ledgerPage is the maximum number of ledger entries in a page from a server.
const ledgerPage = 1000

func (l ledgerCommand) list(ctx context.Context, s ledgerBackend, c host.Caller, q ledger.Query) error {
	entries, limit, more := []ledger.Entry{}, q.Limit, true
	for more && len(entries) < limit {
		q.Limit = min(limit-len(entries), ledgerPage)
		some, next, rest, err := s.Entries(ctx, c, q)
		if err != nil {
			return err
		}
		entries, q.After, more = append(entries, some...), next, rest
	}
	err := l.out.answer(entries, func() error { return l.print(entries) })
	if more {
		l.out.note(dim, "note: ", fmt.Sprintf("more entries may exist: continue with --after %s, or raise --limit", q.After))
	}
	return err
}

// project returns a finder for projects that may have ledger entries. The project must have an app
// file or a database.
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

// listLast lists the newest entries. The ledger can only be read forward. To find the newest
// entries, listLast first reads the entries of the last minute. If more entries are needed,
// listLast reads longer and longer periods.
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

// newestOf returns the newest entries that match a query. The argument "count" is the maximum
// number of entries.
func newestOf(ctx context.Context, s ledgerBackend, c host.Caller, q ledger.Query, count int) ([]ledger.Entry, error) {
	entries := []ledger.Entry{}
	q.Limit = ledgerPage
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
