package cli

import (
	"context"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/ledger"
)

// entryID is the form of the ids in the ledger: a word, and a ULID.
var entryID = regexp.MustCompile(`^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$`)

// ledgerChoices are the flags that choose entries, which --run does by itself.
var ledgerChoices = []string{"user", "session", "tool", "store", "since", "until", "writes", "failed", "last", "limit", "after"}

// noLedgerArguments refuses arguments. The hint for the id of a run names the flag that takes it.
func noLedgerArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && entryID.MatchString(args[0]) {
		return usagef("toolrun ledger --run "+args[0], "toolrun ledger takes no arguments: %q is too many", args[0])
	}
	return takes(0, 0, "no arguments")(cmd, args)
}

// completeRun checks the flags of a query for one entry.
func (f *ledgerFlags) completeRun(flags *pflag.FlagSet) error {
	for _, name := range ledgerChoices {
		if flags.Changed(name) {
			return usagef("leave it out", "--run names one entry, and goes with no other choice: --%s", name)
		}
	}
	if !entryID.MatchString(f.run) {
		return usagef("toolrun ledger lists the ids", "--run %q is not the id of a run", f.run)
	}
	return nil
}

// listRun lists the entry of one run.
func (l ledgerCommand) listRun(ctx context.Context, s ledgerBackend, c host.Caller, run string) error {
	entry, err := entryOf(ctx, s, c, run)
	if err != nil {
		return err
	}
	if entry == nil {
		return abi.Faultf(abi.NotFound, "the ledger has no entry of %s", run).
			WithHint("toolrun ledger --last 20 lists the newest entries; runs of another tenant or database have theirs there")
	}
	entries := []ledger.Entry{*entry}
	return l.out.answer(entries, func() error { return l.print(entries) })
}

// entryOf finds the entry of a run, nil if there is none. Entries are in the order of their ids, so it asks for the one
// that follows the id before.
func entryOf(ctx context.Context, s ledgerBackend, c host.Caller, run string) (*ledger.Entry, error) {
	q := ledger.Query{After: idBefore(run), Limit: 1}
	entries, _, _, err := s.Entries(ctx, c, q)
	if err != nil || len(entries) == 0 || entries[0].Run != run {
		return nil, err
	}
	return &entries[0], nil
}

// ulidDigits are the digits of a ULID in their order.
const ulidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// idBefore returns the greatest id that is less than id.
func idBefore(id string) string {
	text := []byte(id)
	for i := len(text) - 1; i >= 0; i-- {
		digit := strings.IndexByte(ulidDigits, text[i])
		if digit > 0 {
			text[i] = ulidDigits[digit-1]
			break
		}
		if digit < 0 { // the word before the ULID
			break
		}
		text[i] = 'Z'
	}
	return string(text)
}
