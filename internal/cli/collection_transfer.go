package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

// entries formats a number of entries as text.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func (cc collectionCommands) export() *cobra.Command {
	var f memoryFlags
	var n namespaceFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "Export the entries of a collection as JSON lines",
		Long: `Write the entries of a collection as JSON lines with their owners, which toolrun collection import
accepts. The output does not include the vectors, because an import makes the vectors again. By default, the output
contains all namespaces.`,
		Example: `  toolrun collection export articles > articles.jsonl
  toolrun collection export diary --user ann -o diary.jsonl`,
		Args: takes(1, 1, "the NAME of a collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := n.check(); err != nil {
				return err
			}
			q, dest := n.query(args[0]), cc.env.path(out)
			if out != "" {
				if err := checkDest(out, dest, force); err != nil {
					return err
				}
			}
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				if out == "" {
					cc.out.answered = true
					_, err := exportLines(ctx, s, c, q, cc.env.Stdout, nil)
					return err
				}
				return cc.exportFile(ctx, s, c, q, dest)
			})
		},
	}
	cc.register(cmd, &f, nil)
	n.register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of stdout")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

// progressText returns a function that describes the progress of a transfer of entries.
func progressText(doing string, count *atomic.Int64) func() string {
	return func() string { return doing + ", " + entries(int(count.Load())) }
}

// exportLines writes entries in the form of JSON lines.
func exportLines(ctx context.Context, s collectionBackend, c host.Caller, q memory.EntryQuery, to io.Writer, report func(host.EntryProgress)) (host.EntryProgress, error) {
	q.Limit = pageSize
	return host.ExportEntries(to, func(after string) ([]memory.Entry, string, error) {
		q.After = after
		return s.List(ctx, c, q)
	}, report)
}

// exportFile writes entries to a temporary file that only the owner can read. When the temporary
// file is complete, exportFile renames it.
func (cc collectionCommands) exportFile(ctx context.Context, s collectionBackend, c host.Caller, q memory.EntryQuery, dest string) error {
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", cc.env.show(dest), cause(err))
	}
	defer os.Remove(temp.Name())
	var done host.EntryProgress
	var count atomic.Int64
	err = cc.out.counting(progressText("exporting "+q.Collection, &count), func() (err error) {
		done, err = exportLines(ctx, s, c, q, temp, func(p host.EntryProgress) { count.Store(int64(p.Entries)) })
		return err
	})
	if err != nil {
		_ = temp.Close() // the file is removed, so an error does not matter
		return err
	}
	err = errors.Join(temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), dest)
	}
	if err != nil {
		return abi.Faultf(abi.Unavailable, "cannot write %s: %v", cc.env.show(dest), cause(err))
	}
	return cc.out.answer(done, func() error { return cc.out.say("exported %s to %s", entries(done.Entries), cc.env.show(dest)) })
}
