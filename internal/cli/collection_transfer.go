package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

// entries returns a number of entries as text.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func (cc collectionCommands) importCommand() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "import NAME FILE",
		Short: "Import entries from JSON lines",
		Long: `Import the entries of a file with one JSON object in each line, such as the output of toolrun collection export. The
members are content, and optionally id, namespace, metadata, ttl or expires_at, user_id and session_id. An entry with
the id of an existing entry replaces it. An entry without an id gets one that depends only on its content, so a second
import replaces it, too. --user and --session replace the owners in the file.

If a line is wrong, the command fails with its number. Entries of earlier lines can then be stored; import the corrected
file again.`,
		Example: `  toolrun collection import articles articles.jsonl
  toolrun collection import diary - --user ann < diary.jsonl`,
		Args: takes(2, 2, "the NAME of a collection and a FILE, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := cc.openLines(args[1])
			if err != nil {
				return err
			}
			defer from.Close()
			return cc.with(cmd, &f, true, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				return cc.importLines(ctx, s, c, args[0], from)
			})
		},
	}
	cc.register(cmd, &f, nil)
	complete := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = complete // the second argument is completed as a file
	return cmd
}

// openLines opens a file, or stdin for "-".
func (cc collectionCommands) openLines(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cc.env.Stdin), nil
	}
	f, err := os.Open(cc.env.path(name))
	if err != nil {
		return nil, usagef("", "cannot read %s: %v", name, cause(err))
	}
	return f, nil
}

// importLines stores the entries of JSON lines.
func (cc collectionCommands) importLines(ctx context.Context, s collectionBackend, c host.Caller, name string, from io.Reader) error {
	var done host.EntryProgress
	err := cc.out.progress("importing", func() (err error) {
		done, err = host.ImportEntries(ctx, c, host.NewEntryReader(from, time.Now()), func(ctx context.Context, owner host.Caller, entries []host.NewEntry) error {
			_, err := s.Remember(ctx, owner, name, entries...)
			return err
		}, nil)
		return err
	})
	if err != nil {
		if done.Entries > 0 {
			cc.out.warn("imported %s before the failure", entries(done.Entries))
		}
		return err
	}
	if done.Expired > 0 {
		cc.out.warn("skipped %s that had expired", entries(done.Expired))
	}
	return cc.out.answer(done, func() error { return cc.out.say("imported %s into %s", entries(done.Entries), name) })
}

func (cc collectionCommands) export() *cobra.Command {
	var f memoryFlags
	var n namespaceFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "Export the entries of a collection as JSON lines",
		Long: `Write the entries of a collection as JSON lines with their owners, which toolrun collection import accepts. The vectors
are not included; an import makes them again. By default, the output contains all namespaces.`,
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
					_, err := exportLines(ctx, s, c, q, cc.env.Stdout)
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

// exportLines writes entries as JSON lines.
func exportLines(ctx context.Context, s collectionBackend, c host.Caller, q memory.EntryQuery, to io.Writer) (host.EntryProgress, error) {
	q.Limit = pageSize
	return host.ExportEntries(to, func(after string) ([]memory.Entry, string, error) {
		q.After = after
		return s.List(ctx, c, q)
	}, nil)
}

// exportFile writes entries to a temporary file that only its owner can read. exportFile renames
// the file when it is complete.
func (cc collectionCommands) exportFile(ctx context.Context, s collectionBackend, c host.Caller, q memory.EntryQuery, dest string) error {
	temp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".new-*")
	if err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", cc.env.show(dest), cause(err))
	}
	defer os.Remove(temp.Name())
	var done host.EntryProgress
	err = cc.out.progress("exporting", func() (err error) {
		done, err = exportLines(ctx, s, c, q, temp)
		return err
	})
	if err != nil {
		_ = temp.Close() // the file is removed anyway
		return err
	}
	err = errors.Join(temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), dest)
	}
	if err != nil {
		return abi.Faultf(abi.Unavailable, "write %s: %v", cc.env.show(dest), cause(err))
	}
	return cc.out.answer(done, func() error { return cc.out.say("exported %s to %s", entries(done.Entries), cc.env.show(dest)) })
}
