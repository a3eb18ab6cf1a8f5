package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

// eraseCommand erases all data of a user.
type eraseCommand struct{ baseCommand }

func (ec eraseCommand) command() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "erase --user USER",
		Short: "Remove all data of a user in an app",
		Long: `Remove all data of a user in one app, and report the amount of removed data. The data are documents, facts,
blocks and collection entries of the user, transcripts, sessions and workflows with their records and files, runs that
wait for an approval, results kept for later requests, and ledger entries. An erasure cannot be undone. Repeat the
command for each app. Records in stores with access: application do not belong to a user, and are kept. However, entries
that the user's runs wrote in collections of the app are removed, unless the collection has erase: never. The output
contains the number of entries that collections with erase: never keep.`,
		Example: `  toolrun erase --user ann
  toolrun erase --user ann --tenant acme --json`,
		Args: takes(0, 0, "no arguments but --user"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.user == "" {
				return usagef("add --user USER, as in `toolrun erase --user ann`", "an erasure requires a user")
			}
			return ec.apps.with(cmd, &f, ec.projects.open, false, func(opened *openedApp, caller host.Caller) error {
				return ec.erase(cmd.Context(), opened, caller)
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	cmd.Flags().Lookup("user").Usage = "the `id` of the user to erase (required)"
	return cmd
}

func (ec eraseCommand) erase(ctx context.Context, opened *openedApp, c host.Caller) error {
	var erased memory.Erased
	err := ec.out.progress("erasing", func() (err error) {
		erased, err = opened.users.Erase(ctx, c)
		return err
	})
	if err != nil {
		return err
	}
	return ec.out.answer(erased, func() error { return ec.print(opened.app, erased) })
}

func (ec eraseCommand) print(app string, e memory.Erased) error {
	of := ""
	if app != "" {
		of = " of the app " + app
	}
	more := ""
	if e.Workflows > 0 {
		more += ", " + count(e.Workflows, "workflow")
	}
	if e.Files > 0 {
		more += ", " + count(e.Files, "file")
	}
	if e.Entries > 0 {
		more += fmt.Sprintf(", %d of the ledger", e.Entries)
	}
	err := ec.out.say("erased the user %s%s: %s (%d bytes), %s, %s%s", e.User, of,
		count(e.Records, "record"), e.Bytes, count(e.Sessions, "session"), count(e.Runs, "kept result"), more)
	if err == nil {
		err = ec.printKept(e.KeptShared)
	}
	if err != nil || len(e.Stores) == 0 {
		return err
	}
	var rows [][]string
	for _, store := range slices.Sorted(maps.Keys(e.Stores)) {
		rows = append(rows, []string{store, strconv.Itoa(e.Stores[store])})
	}
	return ec.out.table([]string{"STORE", "RECORDS"}, rows)
}

// printKept prints the names of the collections whose entries the erasure keeps.
func (ec eraseCommand) printKept(kept map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		n := kept[name]
		what := fmt.Sprintf("%d entries", n)
		if n == 1 {
			what = "1 entry"
		}
		if err := ec.out.say("kept %s of the collection %s, because the collection is declared with `erase: never`", what, name); err != nil {
			return err
		}
	}
	return nil
}
