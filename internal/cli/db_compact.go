package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host/storage/bolt"
)

func (p *program) dbCompact() *cobra.Command {
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
			path, err := p.namedDatabase(&place, args)
			if err != nil {
				return err
			}
			return p.compact(cmd.Context(), path)
		},
	}
	place.register(cmd)
	return cmd
}

// namedDatabase returns the path of a database that an argument or a flag names, but not both.
func (p *program) namedDatabase(place *placeFlags, args []string) (string, error) {
	if len(args) == 1 {
		if place.db != "" {
			return "", usagef("name it once", "two databases are named: %s and %s", args[0], place.db)
		}
		place.db = args[0]
	}
	return p.existing(*place)
}

func (p *program) compact(ctx context.Context, path string) error {
	shown := p.env.show(path)
	var done bolt.Compacted
	err := p.progress("compacting "+shown, func() (err error) {
		done, err = bolt.Compact(ctx, path)
		return err
	})
	if err != nil {
		return p.inUse(p.databaseFault("compact", path, err), "another process has it open; stop it first. A backup of a service is as small: toolrun db backup DEST --server URL")
	}
	reply := struct {
		File string `json:"file"`
		bolt.Compacted
	}{shown, done}
	return p.answer(reply, func() error {
		return p.say("compacted %s: %d bytes, before that %d", shown, done.After, done.Before)
	})
}
