package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// exportUser writes all data of a user to a file.
func (p *program) exportUser(cmd *cobra.Command, f *memoryFlags, out string, force bool) error {
	if f.user == "" {
		return usagef("toolrun export --user ann -o ann.zip", "an export of a user's data needs a user")
	}
	if out == "" {
		return usagef("add -o FILE", "the data of a user is a ZIP archive, which needs a file")
	}
	dest := p.env.path(out)
	if err := checkDest(out, dest, force); err != nil {
		return err
	}
	return p.inWorkspace(cmd, f, p.openProject, false, func(w *workspace, caller host.Caller) error {
		return p.writeUser(cmd, w, caller, dest)
	})
}

// writeUser writes the archive, which gets its name when it is complete. Only its owner can read it.
func (p *program) writeUser(cmd *cobra.Command, w *workspace, caller host.Caller, dest string) error {
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", p.env.show(dest), cause(err))
	}
	defer os.Remove(temp.Name())
	err = p.progress("exporting", func() error { return w.ExportUser(cmd.Context(), caller, temp) })
	if err != nil {
		_ = temp.Close() // which is removed
		return err
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", p.env.show(dest), cause(err))
	}
	if err := os.Rename(temp.Name(), dest); err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", p.env.show(dest), cause(err))
	}
	return p.answer(map[string]string{"file": p.env.show(dest)}, func() error { return p.say("wrote %s", p.env.show(dest)) })
}
