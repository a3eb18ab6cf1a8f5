package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// factCommands implements the commands that read and write facts.
type factCommands struct{ baseCommand }

func (fc factCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "fact",
		Short: "Read and write facts, bypassing grants",
		Long: `Read and write the facts of an app, as its operator. Grants do not apply to these commands, but types,
lifetimes and size limits apply.`,
		Example: `  toolrun fact get user.language --user ann
  toolrun fact set user.language fr --user ann
  toolrun fact list --user ann`,
	})
	cmd.AddCommand(fc.get(), fc.set(), fc.delete(), fc.list())
	return cmd
}

// The method "with" opens an app with facts and calls the function "body" with the facts.
func (fc factCommands) with(cmd *cobra.Command, f *memoryFlags, keep bool, body func(context.Context, factBackend, host.Caller) error) error {
	return fc.apps.with(cmd, f, fc.projects.withFacts, keep, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.facts, caller)
	})
}

func (fc factCommands) get() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "get PATH",
		Short: "Print the value of a fact: the stored value, the default, or null",
		Example: `  toolrun fact get user.language --user ann
  toolrun fact get project.rates --json`,
		Args: takes(1, 1, "the PATH of a fact"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fc.with(cmd, &f, false, func(ctx context.Context, s factBackend, c host.Caller) error {
				fact, err := s.Get(ctx, c, args[0])
				if err != nil {
					return err
				}
				return fc.out.answer(fact, func() error { return fc.out.printJSON(fact.Value) })
			})
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	cmd.ValidArgsFunction = fc.projects.completeArg(&f.app, (*project).factPaths)
	return cmd
}

func (fc factCommands) set() *cobra.Command {
	var f memoryFlags
	var opts client.WriteOptions
	var revision int64
	cmd := &cobra.Command{
		Use:   "set PATH VALUE|@file|-",
		Short: "Set the value of a fact",
		Long: `Set the value of a fact. The value is parsed as JSON. A value that is not valid JSON is stored as a
string.`,
		Example: `  toolrun fact set user.language fr --user ann
  toolrun fact set project.rates '{"EUR": 1, "USD": 1.1}'
  toolrun fact set user.code 1234 --ttl 10m --user ann`,
		Args: takes(2, 2, "the PATH of a fact and its value"),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := fc.env.value(cmd.Context(), "the value", args[1])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("if-revision") {
				opts.IfRevision = &revision
			}
			return fc.with(cmd, &f, true, func(ctx context.Context, s factBackend, c host.Caller) error {
				fact, err := s.Set(ctx, c, args[0], value, opts)
				if err != nil {
					return err
				}
				return fc.showStored(fact)
			})
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	cmd.Flags().Int64Var(&revision, "if-revision", 0, "write only if the fact has this revision; revision 0 requires that no value is stored (default: always)")
	cmd.Flags().StringVar(&opts.TTL, "ttl", "", "the `lifetime` of the value, such as 90d, 24h, 30m or 10s (default: the lifetime that the app declares)")
	cmd.ValidArgsFunction = fc.projects.completeArg(&f.app, (*project).factPaths)
	return cmd
}

// showStored prints a fact after a write.
func (fc factCommands) showStored(fact *apitypes.Fact) error {
	for _, v := range fact.Violations {
		fc.out.warn("the value is stored, but does not have the declared type of the fact %s: %s", fact.Path, v)
	}
	return fc.out.answer(fact, func() error {
		if fact.Expires == nil {
			return fc.out.say("stored %s, revision %d", fact.Path, fact.Revision)
		}
		return fc.out.say("stored %s, revision %d, until %s", fact.Path, fact.Revision, when(fact.Expires))
	})
}

func (fc factCommands) delete() *cobra.Command {
	var f memoryFlags
	var revision int64
	cmd := &cobra.Command{
		Use:     "delete PATH",
		Short:   "Delete the stored value of a fact",
		Example: `  toolrun fact delete user.language --user ann`,
		Args:    takes(1, 1, "the PATH of a fact"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var required *int64
			if cmd.Flags().Changed("if-revision") {
				required = &revision
			}
			return fc.with(cmd, &f, false, func(ctx context.Context, s factBackend, c host.Caller) error {
				deleted, err := s.Delete(ctx, c, args[0], required)
				if err != nil {
					return err
				}
				return fc.out.answer(deleted, func() error {
					if deleted.Deleted {
						return fc.out.say("deleted %s", args[0])
					}
					return fc.out.say("no value of %s was stored", args[0])
				})
			})
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	cmd.Flags().Int64Var(&revision, "if-revision", 0, "delete only if the fact has this revision (default: always)")
	cmd.ValidArgsFunction = fc.projects.completeArg(&f.app, (*project).factPaths)
	return cmd
}

func (fc factCommands) list() *cobra.Command {
	var f memoryFlags
	var q client.FactQuery
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored facts of a user, of a session and of the app",
		Example: `  toolrun fact list --user ann
  toolrun fact list --user ann --prefix user.travel --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fc.with(cmd, &f, false, func(ctx context.Context, s factBackend, c host.Caller) error {
				facts, err := allPages(func(after string) ([]apitypes.Fact, string, error) {
					page := q
					page.After, page.Limit = after, pageSize
					return s.List(ctx, c, page)
				})
				if err != nil {
					return err
				}
				return fc.out.answer(facts, func() error { return fc.out.table(factTable(facts)) })
			})
		},
	}
	f.register(cmd)
	f.workflowFlag(cmd)
	cmd.Flags().StringVar(&q.Prefix, "prefix", "", "list only facts whose path begins with this `path`, such as user.travel")
	cmd.Flags().StringVar(&q.Domain, "domain", "", "list only facts of this `domain`")
	return cmd
}

// factTable returns the column titles and the rows of a table of facts.
func factTable(facts []apitypes.Fact) (heads []string, rows [][]string) {
	for _, f := range facts {
		rows = append(rows, []string{f.Path, shortValue(f.Value), strconv.FormatInt(f.Revision, 10), when(f.Updated), when(f.Expires)})
	}
	return []string{"PATH", "VALUE", "REVISION", "UPDATED", "EXPIRES"}, rows
}

// shortValue formats a value for a table.
func shortValue(value []byte) string {
	const max = 40
	if runes := []rune(string(value)); len(runes) > max {
		return string(runes[:max]) + "..."
	}
	return string(value)
}

// withFacts is like openApp, but returns an error if the app declares no facts.
func (ps projects) withFacts(named string) (*project, error) {
	pr, err := ps.openApp(named)
	if err != nil || pr.app.Facts != nil {
		return pr, err
	}
	pr.close()
	return nil, abi.Faultf(abi.NotFound, "the app declares no facts").WithHint("declare facts in the app file, such as `facts: {user.language: {type: string}}`")
}

// factPaths returns the paths of the declared facts.
func (pr *project) factPaths() []string {
	var paths []string
	for _, f := range pr.app.Facts {
		paths = append(paths, f.Path)
	}
	return paths
}
