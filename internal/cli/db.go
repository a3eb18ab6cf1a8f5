package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// dbCommands implements the commands for database files.
type dbCommands struct{ baseCommand }

func (d dbCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "db",
		Short: "Check, back up or compact a database file",
		Example: `  toolrun db check
  toolrun db backup /backups/shop.db
  toolrun db compact`,
	})
	cmd.AddCommand(d.check(), d.backup(), d.compact())
	return cmd
}

// existing returns the database that a command names. If the file does not exist, the method fails.
func (d dbCommands) existing(place placeFlags) (db database, err error) {
	pr, err := d.project(place)
	if err != nil {
		return db, err
	}
	defer pr.close()
	db = pr.database(place.db)
	if _, err := os.Stat(db.path); errors.Is(err, fs.ErrNotExist) {
		return db, noDatabase(db.shown())
	}
	return db, nil
}

// project finds the folder of a database and ignores mistakes in the app file.
func (d dbCommands) project(place placeFlags) (*project, error) {
	if place.db != "" {
		return &project{env: d.env, dir: d.env.Dir}, nil
	}
	return d.projects.read(place.app)
}

func (d dbCommands) check() *cobra.Command {
	var place placeFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a whole database file for damage",
		Long: `Read a whole database file, and report damaged pages, checksums of records, indexes and counters.
While the command runs, no other process can have the file open. To repair a damaged file, restore a backup.`,
		Example: `  toolrun db check
  toolrun db check /backups/shop.db --json`,
		Args: takes(0, 1, "at most one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			db, err := d.named(&place, args)
			if err != nil {
				return err
			}
			return d.checkFile(db)
		},
	}
	place.register(cmd)
	return cmd
}

func (d dbCommands) checkFile(db database) error {
	shown := db.shown()
	var report bolt.Report
	err := d.out.progress("checking "+shown, func() (err error) {
		report, err = bolt.Check(db.path)
		return err
	})
	if err != nil {
		return inUse(db.fault("check", err), "to check the database of a running service, create a backup with `toolrun db backup DEST --server URL` and check the backup")
	}
	err = d.out.answer(report, func() error {
		for _, problem := range report.Problems {
			if problem.Key != "" {
				problem.Text = problem.Key + ": " + problem.Text
			}
			if err := d.out.say("%s: %s: %s", shown, problem.Kind, problem.Text); err != nil {
				return err
			}
		}
		if !report.OK() {
			return nil
		}
		return d.out.say("%s: %s with %d bytes in a file of %d; no problems",
			shown, count(int(report.Records), "record"), report.Bytes, report.FileBytes)
	})
	if err != nil || report.OK() {
		return err
	}
	return abi.Faultf(abi.Unavailable, "the database %s is damaged: %s", shown, count(len(report.Problems)+report.Omitted, "problem")).
		WithHint("restore the database from a backup")
}
