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
		Short: "Remove the free space from a database file",
		Long: `Copy the records of a database file into a new file, and replace the old file with the new file.
Without this command, a database file never shrinks, and contains deleted bytes until their pages are reused. The new
file contains no deleted bytes.

While the command runs, no other process can have the file open, so stop the service first. The disk needs space for
the new file. If the process is killed, the old file stays unchanged.`,
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

// named returns the database that an argument or a flag specifies. If both the argument and the
// flag specify a database, named fails.
func (d dbCommands) named(place *placeFlags, args []string) (database, error) {
	if len(args) == 1 {
		if place.db != "" {
			return database{}, usagef("name only one database", "the command contains two databases: %s and %s", args[0], place.db)
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
		return inUse(db.fault("compact", err), "stop the process that has the database open")
	}
	reply := struct {
		File string `json:"file"`
		bolt.Compacted
	}{shown, done}
	return d.out.answer(reply, func() error {
		return d.out.say("compacted %s: %d bytes, was %d", shown, done.After, done.Before)
	})
}
