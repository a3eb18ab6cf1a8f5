package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// memoryCommands implements the commands that read and write the records of stores.
type memoryCommands struct{ baseCommand }

func (m memoryCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "memory",
		Short: "Inspect and edit stored records, bypassing grants",
		Long: `Inspect and edit the records of an app, as its operator. Grants do not apply to these commands, but
schemas, retention and size limits apply.`,
		Example: `  toolrun memory get userPrefs --user ann
  toolrun memory set userPrefs '{"language": "fr"}' --user ann
  toolrun memory list userPrefs`,
	})
	cmd.AddCommand(m.get(), m.set(), m.delete(), m.list(), m.purge())
	return cmd
}

func (m memoryCommands) get() *cobra.Command {
	var f memoryFlags
	var record bool
	cmd := &cobra.Command{
		Use:   "get STORE [PROJECTION]",
		Short: "Print the content of a record, or null if the record does not exist",
		Example: `  toolrun memory get userPrefs --user ann
  toolrun memory get userPrefs '{"notifications.email": 1}' --user ann
  toolrun memory get sessionMeta --session s1`,
		Args: takes(1, 2, "a STORE and an optional PROJECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var projection json.RawMessage
			if len(args) == 2 {
				var err error
				if projection, err = m.env.document(cmd.Context(), "the projection", args[1]); err != nil {
					return err
				}
			}
			return m.operate(cmd, &f, args[0], false, func(ctx context.Context, s recordBackend, c host.Caller) error {
				content, err := s.Get(ctx, c, args[0], projection, record)
				if err != nil {
					return err
				}
				return m.out.printJSON(content)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&record, "record", false, "also print the revision and the times")
	cmd.ValidArgsFunction = m.projects.completeArg(&f.app, func(pr *project) []string { return append(pr.storeNames(), declare.SessionMeta) })
	return cmd
}

func (m memoryCommands) set() *cobra.Command {
	var f memoryFlags
	var opts writeOptions
	var revision int64
	cmd := &cobra.Command{
		Use:   "set STORE JSON|@file|-",
		Short: "Create a record, or merge a value into the record",
		Long: `Create a record, or merge the value into the existing record (RFC 7396). The merge keeps all fields
that the value does not contain, and removes fields that are null in the value.`,
		Example: `  toolrun memory set userPrefs '{"language": "fr", "nickname": null}' --user ann
  toolrun memory set catalogue @catalogue.json --replace
  toolrun memory set userPrefs - --if-revision 3 --ttl 1h --user ann < prefs.json`,
		Args: takes(2, 2, "a STORE and its content"),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := m.env.document(cmd.Context(), "the content", args[1])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("if-revision") {
				opts.IfRevision = &revision
			}
			return m.operate(cmd, &f, args[0], true, func(ctx context.Context, s recordBackend, c host.Caller) error {
				record, err := s.Set(ctx, c, args[0], content, opts)
				if err != nil {
					return err
				}
				return m.showStored(args[0], record)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&opts.Replace, "replace", false, "replace the whole content instead of merging the value into it")
	cmd.Flags().Int64Var(&revision, "if-revision", 0, "write only if the record has this revision; revision 0 requires that the record does not exist")
	cmd.Flags().StringVar(&opts.TTL, "ttl", "", "the `time` to live of the record, such as 90d, 24h, 30m or 10s, if shorter than its store's retention")
	cmd.ValidArgsFunction = m.projects.completeArg(&f.app, (*project).storeNames)
	return cmd
}

// showStored prints the stored record after a write.
func (m memoryCommands) showStored(store string, text json.RawMessage) error {
	var record struct {
		Revision int64   `json:"revision"`
		Updated  string  `json:"updated_at"`
		Expires  *string `json:"expires_at"`

		Violations []abi.Violation `json:"violations"`
	}
	if err := json.Unmarshal(text, &record); err != nil {
		return err
	}
	reply := struct {
		Success  bool    `json:"success"`
		Revision int64   `json:"revision"`
		Updated  string  `json:"updated_at"`
		Expires  *string `json:"expires_at"`

		Violations []abi.Violation `json:"violations,omitempty"`
	}{true, record.Revision, record.Updated, record.Expires, record.Violations}
	for _, v := range record.Violations {
		m.out.warn("the content is stored, but does not match the schema of the store %s: %s", store, v)
	}
	return m.out.answer(reply, func() error {
		if record.Expires == nil {
			return m.out.say("stored %s, revision %d", store, record.Revision)
		}
		return m.out.say("stored %s, revision %d, until %s", store, record.Revision, *record.Expires)
	})
}

func (m memoryCommands) delete() *cobra.Command {
	var f memoryFlags
	var opts writeOptions
	var revision int64
	cmd := &cobra.Command{
		Use:     "delete STORE",
		Short:   "Delete a record",
		Example: `  toolrun memory delete userPrefs --user ann`,
		Args:    takes(1, 1, "a STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("if-revision") {
				opts.IfRevision = &revision
			}
			return m.operate(cmd, &f, args[0], false, func(ctx context.Context, s recordBackend, c host.Caller) error {
				reply, err := s.Delete(ctx, c, args[0], opts)
				if err != nil {
					return err
				}
				return m.out.answer(reply, func() error {
					if bytes.Contains(reply, []byte(`"deleted":true`)) {
						return m.out.say("deleted the record of %s", args[0])
					}
					return m.out.say("no record of %s existed", args[0])
				})
			})
		},
	}
	f.register(cmd)
	cmd.Flags().Int64Var(&revision, "if-revision", 0, "delete only if the record has this revision")
	cmd.ValidArgsFunction = m.projects.completeArg(&f.app, (*project).storeNames)
	return cmd
}

// operate opens the app of a store and passes the app's records to the function "body".
func (m memoryCommands) operate(cmd *cobra.Command, f *memoryFlags, store string, keep bool, body func(context.Context, recordBackend, host.Caller) error) error {
	return m.apps.with(cmd, f, m.projects.withStore(store, declare.SessionMeta), keep, func(opened *openedApp, caller host.Caller) error {
		err := body(cmd.Context(), opened.records, caller)
		if f := abi.FaultOf(err); err != nil && f.Code == abi.InvalidArgument && strings.Contains(f.Hint, abi.GetBlock) {
			return f.WithHint("use `toolrun block %s %s`", cmd.Name(), store) // the store contains a block
		}
		if f := abi.FaultOf(err); err != nil && f.Code == abi.InvalidArgument && strings.Contains(f.Hint, abi.Remember) {
			return f.WithHint("use the commands for collections, such as `toolrun collection show %s`", store) // the store contains a collection
		}
		return err
	})
}

func (m memoryCommands) list() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "list STORE",
		Short: "List a store's records, without their contents",
		Example: `  toolrun memory list userPrefs
  toolrun memory list userPrefs --user ann --json`,
		Args: takes(1, 1, "a STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.apps.with(cmd, &f, m.projects.withStore(args[0], declare.Facts, declare.Agents, declare.Transcripts), false, func(opened *openedApp, caller host.Caller) error {
				return m.listRecords(cmd.Context(), opened.records, caller, args[0])
			})
		},
	}
	f.register(cmd)
	cmd.ValidArgsFunction = m.projects.completeArg(&f.app, (*project).storeNames)
	return cmd
}

func (m memoryCommands) listRecords(ctx context.Context, s recordBackend, caller host.Caller, store string) error {
	records, err := allPages(func(after string) ([]memory.RecordInfo, string, error) {
		return s.List(ctx, caller, store, after, pageSize)
	})
	if err != nil {
		return err
	}
	return m.out.answer(records, func() error {
		heads, rows := []string{"USER", "SESSION", "REVISION", "BYTES", "UPDATED", "EXPIRES"}, make([][]string, len(records))
		items := slices.ContainsFunc(records, func(r memory.RecordInfo) bool { return r.Item != "" })
		if items {
			heads = append([]string{"ITEM"}, heads...)
		}
		for i, r := range records {
			rows[i] = []string{r.User, r.Session, strconv.FormatInt(r.Revision, 10), strconv.Itoa(r.Bytes), when(&r.Updated), when(r.Expires)}
			if items {
				rows[i] = append([]string{strconv.Quote(r.Item)}, rows[i]...)
			}
		}
		return m.out.table(heads, rows)
	})
}

func (m memoryCommands) purge() *cobra.Command {
	var f memoryFlags // without --user and --session, because a purge affects all users
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge STORE --yes",
		Short: "Remove the records of all users and sessions from a store",
		Example: `  toolrun memory purge oldPrefs --yes
  toolrun memory purge oldPrefs --yes --tenant acme`,
		Args: takes(1, 1, "a STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usagef("add --yes to confirm", "the command removes the records of %q of all users and sessions", args[0])
			}
			return m.purgeStore(cmd, &f, args[0])
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the removal (required)")
	cmd.ValidArgsFunction = m.projects.completeArg(&f.app, (*project).storeNames)
	return cmd
}

func (m memoryCommands) purgeStore(cmd *cobra.Command, f *memoryFlags, store string) error {
	n, err := m.purgeOpened(cmd, f, store)
	if _, moved := errors.AsType[*memory.ScopeChangedError](err); moved {
		n, err = m.purgeUnopened(cmd, f, store)
	}
	if err != nil {
		return err
	}
	reply := map[string]any{"store": store, "records": n}
	return m.out.answer(reply, func() error { return m.out.say("removed %s of %s", count(n, "record"), store) })
}

func (m memoryCommands) purgeOpened(cmd *cobra.Command, f *memoryFlags, store string) (n int, err error) {
	err = m.apps.with(cmd, f, m.projects.openApp, false, func(opened *openedApp, caller host.Caller) error {
		n, err = opened.records.Purge(cmd.Context(), caller, store)
		return err
	})
	return n, err
}

// purgeUnopened purges a store without opening its app. After a change of the store's scope, the
// app cannot be opened until the store is purged. The ledger gets no entry for a purge by
// purgeUnopened.
func (m memoryCommands) purgeUnopened(cmd *cobra.Command, f *memoryFlags, store string) (n int, err error) {
	pr, err := m.projects.openApp(f.app)
	if err != nil {
		return 0, err
	}
	defer pr.close()
	backend, err := pr.database(f.db).open(false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	service, err := m.apps.memory(&app.App{ID: pr.app.ID}, backend)
	if err != nil {
		return 0, err
	}
	return service.Purge(cmd.Context(), f.tenant, store)
}
