package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
)

func (cc collectionCommands) remember() *cobra.Command {
	var f memoryFlags
	var e host.NewEntry
	var metadata string
	cmd := &cobra.Command{
		Use:   "remember NAME CONTENT|@file|-",
		Short: "Store an entry, and replace an entry with the same id",
		Long: `Store an entry. The content is parsed as JSON. A content that is not valid JSON is stored as a
string.`,
		Example: `  toolrun collection remember articles 'We refund broken cups.' --id r1 --metadata '{"category": "refunds"}'
  toolrun collection remember articles @terms.txt --id terms --ttl 30d`,
		Args: takes(2, 2, "the NAME of a collection and a content"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if e.Content, err = cc.env.value(cmd.Context(), "the content", args[1]); err != nil {
				return err
			}
			if e.Metadata, err = cc.env.document(cmd.Context(), "the metadata", metadata); err != nil {
				return err
			}
			return cc.with(cmd, &f, true, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				stored, err := s.Remember(ctx, c, args[0], e)
				if err != nil {
					return err
				}
				return cc.out.answer(stored[0], func() error { return cc.showStored(args[0], stored[0]) })
			})
		},
	}
	cc.register(cmd, &f, &e.Namespace)
	embeds(cmd)
	cmd.Flags().StringVar(&e.ID, "id", "", "the `id` of the entry in its namespace (default: a new id)")
	cmd.Flags().StringVar(&metadata, "metadata", "", "the metadata as a `JSON` object, @file, or - for stdin")
	cmd.Flags().StringVar(&e.TTL, "ttl", "", "the `time` to live of the entry, such as 90d, 24h, 30m or 10s, if shorter than the retention of the collection")
	return cmd
}

// showStored prints the id of a stored entry.
func (cc collectionCommands) showStored(name string, stored host.Remembered) error {
	if stored.Expires == nil {
		return cc.out.say("stored %s in %s", stored.ID, name)
	}
	return cc.out.say("stored %s in %s, until %s", stored.ID, name, stored.Expires.UTC().Format(time.RFC3339))
}

func (cc collectionCommands) forget() *cobra.Command {
	var f memoryFlags
	var what host.ForgetEntries
	var filter string
	cmd := &cobra.Command{
		Use:   "forget NAME [ID]",
		Short: "Remove one entry, the entries that match a filter, or all entries of a namespace",
		Example: `  toolrun collection forget articles r1
  toolrun collection forget articles --filter '{"year": {"lte": 2020}}'
  toolrun collection forget diary --all --user ann`,
		Args: takes(1, 2, "the NAME of a collection and an optional ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if what.Collection = args[0]; len(args) == 2 {
				what.ID = args[1]
			}
			selectors := 0
			for _, used := range []bool{what.ID != "", filter != "", what.All} {
				if used {
					selectors++
				}
			}
			if selectors != 1 {
				return usagef("add an ID, --filter JSON or --all", "`toolrun collection forget` requires exactly one of ID, --filter and --all")
			}
			var err error
			if what.Filter, err = cc.env.document(cmd.Context(), "the filter", filter); err != nil {
				return err
			}
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				return cc.forgetAll(ctx, s, c, what)
			})
		},
	}
	cc.register(cmd, &f, &what.Namespace)
	cmd.Flags().StringVar(&filter, "filter", "", "remove the entries whose metadata match this condition: `JSON`, @file, or - for stdin")
	cmd.Flags().BoolVar(&what.All, "all", false, "remove all entries of the namespace")
	return cmd
}

// forgetAll removes the selected entries in several steps.
func (cc collectionCommands) forgetAll(ctx context.Context, s collectionBackend, c host.Caller, what host.ForgetEntries) error {
	total := host.Forgotten{More: true}
	err := cc.out.progress("removing", func() error {
		for total.More {
			done, err := s.Forget(ctx, c, what)
			total.Count += done.Count
			if total.More = done.More; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		if total.Count > 0 {
			cc.out.warn("removed %d entries before the failure", total.Count)
		}
		return err
	}
	answer := struct {
		Count int `json:"count"`
	}{total.Count}
	return cc.out.answer(answer, func() error { return cc.out.say("removed %s", entries(total.Count)) })
}
