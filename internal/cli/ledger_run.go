package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// entryID matches the ids of ledger entries. An id is a word followed by a ULID.
var entryID = lazyregexp.New(`^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$`)

// ledgerChoices contains the flags that filter entries. The flags in ledgerChoices cannot be
// combined with --run.
var ledgerChoices = []string{"user", "session", "workflow", "tool", "store", "since", "until", "writes", "failed", "last", "limit", "after"}

// noLedgerArguments rejects positional arguments. The hint of the error names the flag for a run
// id.
func noLedgerArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && entryID().MatchString(args[0]) {
		return usagef("toolrun ledger --run "+args[0], "toolrun ledger accepts no arguments, got %q", args[0])
	}
	return takes(0, 0, "no arguments")(cmd, args)
}

// completeRun checks the flags of a query that selects a single run.
func (f *ledgerFlags) completeRun(flags *pflag.FlagSet) error {
	for _, name := range ledgerChoices {
		if flags.Changed(name) {
			return usagef("omit the other flag", "--run selects one entry and cannot be combined with --%s", name)
		}
	}
	if !entryID().MatchString(f.run) {
		return usagef("list the IDs with `toolrun ledger`", "--run %q is not the id of a run", f.run)
	}
	return nil
}

// listRun prints the entry of one run.
func (l ledgerCommand) listRun(ctx context.Context, s ledgerBackend, c host.Caller, run string) error {
	entry, err := entryOf(ctx, s, c, run)
	if err != nil {
		return err
	}
	if entry == nil {
		return abi.Faultf(abi.NotFound, "the ledger has no entry for the run %s", run).
			WithHint("list the newest entries with `toolrun ledger --last 20`, or check --tenant and --db")
	}
	entries := []ledger.Entry{*entry}
	return l.out.answer(entries, func() error { return l.print(entries) })
}

// entryOf returns the entry of a run. If the ledger has no entry for the run, the result is nil.
// Because entries are ordered by id, entryOf computes the greatest id that is less than the id of
// the run, and requests the next entry.
func entryOf(ctx context.Context, s ledgerBackend, c host.Caller, run string) (*ledger.Entry, error) {
	q := ledger.Query{After: idBefore(run), Limit: 1}
	entries, _, _, err := s.Entries(ctx, c, q)
	if err != nil || len(entries) == 0 || entries[0].Run != run {
		return nil, err
	}
	return &entries[0], nil
}

// ulidDigits contains the digits of a ULID in ascending order.
const ulidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// idBefore returns the greatest id that is less than the argument "id".
func idBefore(id string) string {
	text := []byte(id)
	for i := len(text) - 1; i >= 0; i-- {
		digit := strings.IndexByte(ulidDigits, text[i])
		if digit > 0 {
			text[i] = ulidDigits[digit-1]
			break
		}
		if digit < 0 { // no smaller ULID exists
			break
		}
		text[i] = 'Z'
	}
	return string(text)
}
