package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// exportUser writes all data of a user to a ZIP archive.
func (tc transferCommands) exportUser(cmd *cobra.Command, f *memoryFlags, out string, force bool) error {
	if f.user == "" {
		return usagef("add --user USER, as in `toolrun export --user ann -o ann.zip`", "an export of user data requires a user")
	}
	if out == "" {
		return usagef("add -o FILE", "an export of user data is a ZIP archive and must be written to a file")
	}
	dest := tc.env.path(out)
	if err := checkDest(out, dest, force); err != nil {
		return err
	}
	return tc.apps.with(cmd, f, tc.projects.open, false, func(opened *openedApp, caller host.Caller) error {
		return tc.writeUser(cmd, opened, caller, dest)
	})
}

// writeUser writes the archive to a temporary file that only the owner can read. When the temporary
// file is complete, writeUser renames it.
func (tc transferCommands) writeUser(cmd *cobra.Command, opened *openedApp, caller host.Caller, dest string) error {
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", tc.env.show(dest), cause(err))
	}
	defer os.Remove(temp.Name())
	err = tc.out.progress("exporting", func() error { return opened.users.Export(cmd.Context(), caller, temp) })
	if err != nil {
		_ = temp.Close() // the file is removed, so an error does not matter
		return err
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", tc.env.show(dest), cause(err))
	}
	if err := os.Rename(temp.Name(), dest); err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", tc.env.show(dest), cause(err))
	}
	return tc.out.answer(map[string]string{"file": tc.env.show(dest)}, func() error { return tc.out.say("wrote %s", tc.env.show(dest)) })
}
