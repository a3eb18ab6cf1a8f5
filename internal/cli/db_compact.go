package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/storage/bolt"
)

func (d dbCommands) compact() *cobra.Command {
	var place placeFlags
	cmd := &cobra.Command{
		Use:   "compact [FILE]",
		Short: "Make a database file as small as what it holds",
		Long: `Write what a database file holds into a new one that takes its place. A file keeps the bytes of what was removed
until their pages are used again, and never shrinks: the new one has nothing of them.

Nothing may have the file open; of a service that runs, take a backup, which is as small. The disk needs room for the
new file. A process that is killed meanwhile leaves the file as it was.`,
		Example: `  toolrun db compact
  toolrun db compact /var/lib/toolrun/memory.db --json`,
		Args: takes(0, 1, "at most one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := d.named(&place, args)
			if err != nil {
				return err
			}
			return d.compactFile(cmd.Context(), db)
		},
	}
	place.register(cmd)
	return cmd
}

// named returns the database that an argument or a flag names, but not both.
func (d dbCommands) named(place *placeFlags, args []string) (database, error) {
	if len(args) == 1 {
		if place.db != "" {
			return database{}, usagef("name it once", "two databases are named: %s and %s", args[0], place.db)
		}
		place.db = args[0]
	}
	return d.existing(*place)
}

func (d dbCommands) compactFile(ctx context.Context, db database) error {
	shown := db.shown()
	var done bolt.Compacted
	err := d.out.progress("compacting "+shown, func() (err error) {
		done, err = bolt.Compact(ctx, db.path)
		return err
	})
	if err != nil {
		return inUse(db.fault("compact", err), "another process has it open; stop it first. A backup of a service is as small: toolrun db backup DEST --server URL")
	}
	reply := struct {
		File string `json:"file"`
		bolt.Compacted
	}{shown, done}
	return d.out.answer(reply, func() error {
		return d.out.say("compacted %s: %d bytes, before that %d", shown, done.After, done.Before)
	})
}
