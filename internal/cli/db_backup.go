package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/sdk/client"
)

func (d dbCommands) backup() *cobra.Command {
	var place placeFlags
	var server serverFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "backup DEST",
		Short: "Write a consistent copy of a database to a file",
		Long: `Write a consistent copy of a database to a file. The copy contains no deleted data.

With --server, a running service makes the backup. The request requires a key of role backup, because the copy
contains the data of all tenants. To restore a backup, stop the service, replace the database of the service with the
backup, and start the service again.`,
		Example: `  toolrun db backup /backups/shop.db
  toolrun db backup /backups/shop.db --server https://tools.example --key-file backup.key`,
		Args: takes(1, 1, "the DEST file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := server.check(cmd); err != nil {
				return err
			}
			if server.remote() && place.app != "" {
				return usagef("omit --app", "a backup of a server contains all apps")
			}
			dest := d.env.path(args[0])
			if !server.remote() {
				db, err := d.existing(place)
				if err != nil {
					return err
				}
				if err := checkDest(args[0], dest, force); err != nil {
					return err
				}
				return d.backupFile(cmd.Context(), db, dest)
			}
			if err := checkDest(args[0], dest, force); err != nil {
				return err
			}
			return d.backupRemote(cmd.Context(), &server, dest)
		},
	}
	place.register(cmd)
	server.register(cmd)
	cmd.Flags().Lookup("server").Usage = "back up the toolrun server at this `URL`, with all its apps and tenants"
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

// checkDest returns an error if the backup file cannot be written.
func checkDest(named, dest string, force bool) error {
	if _, err := os.Stat(filepath.Dir(dest)); err != nil {
		return usagef("", "cannot use the folder of %s: %v", named, cause(err))
	}
	if _, err := os.Lstat(dest); err == nil && !force {
		return usagef("add --force to replace the file", "%s already exists", named)
	}
	return nil
}

func (d dbCommands) backupFile(ctx context.Context, db database, dest string) (err error) {
	backend, err := bolt.Open(db.path, nil)
	if err != nil {
		return inUse(db.fault("open", err), "back up a running service with `toolrun db backup DEST --server URL`")
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	err = d.out.progress("copying to "+d.env.show(dest), func() error { return backend.BackupFile(ctx, dest) })
	if err != nil {
		return db.fault("back up", err)
	}
	return d.reportFile(dest)
}

// backupRemote downloads a backup to a temporary file. After the temporary file is complete and
// synced to the disk, backupRemote renames it.
func (d dbCommands) backupRemote(ctx context.Context, f *serverFlags, dest string) error {
	r, err := d.apps.client(f, "")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", d.env.show(dest), cause(err))
	}
	defer os.Remove(temp.Name())
	err = d.out.progress("downloading to "+d.env.show(dest), func() error {
		_, err := r.Backup(ctx, temp)
		return err
	})
	if _, remote := errors.AsType[*client.Error](err); remote {
		_ = temp.Close() // the file is removed, so an error does not matter
		return explainBackup(err)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), dest)
	}
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", d.env.show(dest), cause(err))
	}
	return d.reportFile(dest)
}

// explainBackup adds a hint to the error if the role of the key does not allow backups.
func explainBackup(err error) error {
	if errors.Is(err, abi.AccessDenied) {
		if e, ok := errors.AsType[*client.Error](err); ok && e.Status == 403 {
			return e.Fault.WithHint("create a key with the role \"backup\": `toolrun key create --keys FILE --role backup NAME`")
		}
	}
	return explainServer(err)
}

func (d dbCommands) reportFile(dest string) error {
	info, err := os.Stat(dest)
	if err != nil {
		return err
	}
	shown := d.env.show(dest)
	reply := map[string]any{"file": shown, "bytes": info.Size()}
	return d.out.answer(reply, func() error { return d.out.say("wrote %s, %d bytes", shown, info.Size()) })
}

// inUse adds the given hint to an error that means that another process has the database open.
// inUse returns all other errors unchanged.
func inUse(err error, hint string) error {
	if f, ok := errors.AsType[*abi.Fault](err); ok && f.Hint == hintInUse {
		return f.WithHint("%s", hint)
	}
	return err
}
