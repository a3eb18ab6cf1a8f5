package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

func (p *program) dbCommand() *cobra.Command {
	cmd := p.group(&cobra.Command{
		Use:   "db",
		Short: "Check, back up and compact a database file",
		Example: `  toolrun db check
  toolrun db backup /backups/shop.db
  toolrun db compact`,
	})
	cmd.AddCommand(p.dbCheck(), p.dbBackup(), p.dbCompact())
	return cmd
}

// existing returns the absolute path of the database that a command is about, which is there.
func (p *program) existing(place placeFlags) (string, error) {
	pr, err := p.databaseProject(place)
	if err != nil {
		return "", err
	}
	defer pr.close()
	path := p.database(pr, place).path
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", noDatabase(p.env.show(path))
	}
	return path, nil
}

// databaseProject finds out where a database is. An app file with mistakes keeps nobody from its database.
func (p *program) databaseProject(place placeFlags) (*project, error) {
	if place.db != "" {
		return &project{dir: p.env.Dir}, nil
	}
	return p.readProject(place.app)
}

func (p *program) dbCheck() *cobra.Command {
	var place placeFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Read all of a database file and report what is damaged",
		Long: `Read all of a database file, which nothing may have open, and report what is damaged: pages, checksums of
records, indexes, counters. A damaged file is restored from a backup.`,
		Example: `  toolrun db check
  toolrun db check /backups/shop.db --json`,
		Args: takes(0, 1, "at most one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := p.namedDatabase(&place, args)
			if err != nil {
				return err
			}
			return p.checkDatabase(path)
		},
	}
	place.register(cmd)
	return cmd
}

func (p *program) checkDatabase(path string) error {
	shown := p.env.show(path)
	var report bolt.Report
	err := p.progress("checking "+shown, func() (err error) {
		report, err = bolt.Check(path)
		return err
	})
	if err != nil {
		return p.inUse(p.databaseFault("check", path, err), "of a service that runs, check a backup: toolrun db backup DEST --server URL")
	}
	err = p.answer(report, func() error {
		for _, problem := range report.Problems {
			if problem.Key != "" {
				problem.Text = problem.Key + ": " + problem.Text
			}
			if err := p.say("%s: %s: %s", shown, problem.Kind, problem.Text); err != nil {
				return err
			}
		}
		if !report.OK() {
			return nil
		}
		return p.say("%s: %s, %d bytes of them in a file of %d; no problems",
			shown, count(int(report.Records), "record"), report.Bytes, report.FileBytes)
	})
	if err != nil || report.OK() {
		return err
	}
	return abi.Faultf(abi.Unavailable, "the database %s is damaged: %s", shown, count(len(report.Problems)+report.Omitted, "problem")).
		WithHint("restore it from a backup")
}
