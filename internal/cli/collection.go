package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// collectionBackend reads and writes the entries of collections; see host.Collections.
type collectionBackend interface {
	Describe(context.Context, host.Caller) ([]memory.CollectionDetails, error)
	List(ctx context.Context, c host.Caller, q memory.EntryQuery) (found []memory.Entry, next string, err error)
	Get(ctx context.Context, c host.Caller, name, namespace, id string) (*memory.Entry, error)
	Remember(ctx context.Context, c host.Caller, name string, entries ...host.NewEntry) ([]host.Remembered, error)
	Recall(context.Context, host.Caller, host.RecallEntries) ([]host.RecalledEntry, error)
	Forget(context.Context, host.Caller, host.ForgetEntries) (host.Forgotten, error)
	// ReembedStep recomputes vectors of entries with the declared embedding model. A call of
	// ReembedStep takes about five seconds.
	ReembedStep(ctx context.Context, c host.Caller, name string) (host.Reembedding, error)
	// ImportFile imports the text of a file into a collection.
	ImportFile(ctx context.Context, c host.Caller, name string, f documentFile) (apitypes.ImportedFile, error)
}

var _ collectionBackend = localCollections{}

// collectionCommands implements the commands that read and write collections.
type collectionCommands struct{ baseCommand }

func (cc collectionCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "collection",
		Short: "Search, edit and transfer collections, bypassing grants",
		Long: `Read and write the entries of collections, as the operator of the app. Grants do not apply to these
commands, but retention and size limits apply.`,
		Example: `  toolrun collection list
  toolrun collection import articles guides/*.md terms.pdf
  toolrun collection recall articles 'broken cup' --filter '{"category": "refunds"}'`,
	})
	cmd.AddCommand(cc.list(), cc.show(), cc.recall(), cc.remember(), cc.forget(), cc.importCommand(), cc.export(), cc.reembed())
	return cmd
}

// The method "with" opens an app with collections and passes the collections to the function
// "body".
func (cc collectionCommands) with(cmd *cobra.Command, f *memoryFlags, keep bool, body func(context.Context, collectionBackend, host.Caller) error) error {
	apps := cc.apps
	if flag := cmd.Flags().Lookup("models"); flag != nil {
		apps.models = &modelFlags{file: flag.Value.String()}
	}
	return apps.with(cmd, f, cc.projects.withCollections, keep, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.collections, caller)
	})
}

// register registers the flags of a command that uses entries of a collection.
func (cc collectionCommands) register(cmd *cobra.Command, f *memoryFlags, namespace *string) {
	f.register(cmd)
	cmd.ValidArgsFunction = cc.projects.completeArg(&f.app, (*project).collectionNames)
	if namespace != nil {
		cmd.Flags().StringVar(namespace, "namespace", "", "the `name` of the namespace (default: the default namespace)")
	}
}

// embeds registers the flag that commands need for computing vectors.
func embeds(cmd *cobra.Command) { new(modelFlags).registerFile(cmd) }

func (cc collectionCommands) list() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the collections with the numbers of their entries",
		Example: `  toolrun collection list
  toolrun collection list --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				found, err := s.Describe(ctx, c)
				if err != nil {
					return err
				}
				return cc.out.answer(found, func() error { return cc.out.table(collectionTable(found)) })
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	return cmd
}

// collectionTable returns the column titles and the rows of a table of collections.
func collectionTable(found []memory.CollectionDetails) (heads []string, rows [][]string) {
	for _, d := range found {
		access, entries := d.Access, strconv.Itoa(d.Entries)
		if !d.Declared {
			access = "auto"
		}
		if d.More {
			entries += " or more"
		}
		model := d.Embedder
		if d.MovingTo != nil {
			model += " (moving to " + d.MovingTo.Embedder + ")"
		}
		rows = append(rows, []string{d.Name, access, entries, strconv.Itoa(d.Namespaces), bytesize.Format(d.Bytes), d.Embedding, model})
	}
	return []string{"COLLECTION", "ACCESS", "ENTRIES", "NAMESPACES", "SIZE", "EMBEDDING", "MODEL"}, rows
}

func (cc collectionCommands) show() *cobra.Command {
	var f memoryFlags
	var n namespaceFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "show NAME [ID]",
		Short: "List the entries of a collection, or print one entry",
		Long: `List the entries of a collection. Without --namespace, the list contains all namespaces. With an ID,
print the content of the entry with this ID in the namespace that --namespace names, or in the default namespace. With
an ID and --json, print the whole entry. The ID can also be an item from the effects of a run, such as s1/r1 or /r1.`,
		Example: `  toolrun collection show articles
  toolrun collection show articles r1 --json
  toolrun collection show diary --user ann --namespace 2026`,
		Args: takes(1, 2, "the NAME of a collection and an optional ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usagef("use a number from 1", "--limit must be at least 1")
			}
			if err := n.check(); err != nil {
				return err
			}
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				if len(args) == 2 {
					return cc.showEntry(ctx, s, c, args[0], n.name, args[1])
				}
				return cc.showEntries(ctx, s, c, n.query(args[0]), limit)
			})
		},
	}
	cc.register(cmd, &f, nil)
	n.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", 100, "the maximum `number` of entries")
	return cmd
}

// namespaceFlags contains the flags that select one namespace or all namespaces.
type namespaceFlags struct {
	name    string
	unnamed bool // only the default namespace
}

func (n *namespaceFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.name, "namespace", "", "include only entries of the namespace with this `name` (default: all namespaces)")
	cmd.Flags().BoolVar(&n.unnamed, "default-namespace", false, "include only entries of the default namespace, which has no name")
}

// check returns an error if the flags contradict each other.
func (n *namespaceFlags) check() error {
	if n.unnamed && n.name != "" {
		return usagef("omit one of the conflicting flags", "--namespace cannot be combined with --default-namespace")
	}
	return nil
}

// query returns the query for the selected entries of a collection.
func (n *namespaceFlags) query(collection string) memory.EntryQuery {
	q := memory.EntryQuery{Collection: collection}
	if n.unnamed || n.name != "" {
		q.Namespace = &n.name
	}
	return q
}

// showEntry prints an entry. If no entry has the id, the id can also be an item from the effects of a
// run, such as s1/r1 or /r1.
func (cc collectionCommands) showEntry(ctx context.Context, s collectionBackend, c host.Caller, name, namespace, id string) error {
	found, err := s.Get(ctx, c, name, namespace, id)
	if before, after, ok := strings.Cut(id, "/"); ok && after != "" && namespace == "" && found == nil && err == nil {
		found, err = s.Get(ctx, c, name, before, after)
	}
	if err != nil {
		return err
	}
	return cc.out.answer(found, func() error {
		if found == nil {
			return abi.Faultf(abi.NotFound, "the entry %s does not exist", id)
		}
		return cc.out.printJSON(found.Content)
	})
}

// showEntries prints a table of entries. The argument "limit" is the maximum number of entries.
func (cc collectionCommands) showEntries(ctx context.Context, s collectionBackend, c host.Caller, q memory.EntryQuery, limit int) error {
	found, more := []memory.Entry{}, true
	for more && len(found) < limit {
		q.Limit = min(limit-len(found), pageSize)
		page, next, err := s.List(ctx, c, q)
		if err != nil {
			return err
		}
		found = append(found, page...)
		q.After, more = next, next != ""
	}
	if more {
		cc.out.warn("the collection has more entries; use --limit or `toolrun collection export %s`", q.Collection)
	}
	return cc.out.answer(found, func() error { return cc.out.table(entryTable(found)) })
}

// entryTable returns the column titles and the rows of a table of entries.
func entryTable(found []memory.Entry) (heads []string, rows [][]string) {
	for _, e := range found {
		owner := e.User
		if e.Session != "" {
			owner = e.Session
		}
		rows = append(rows, []string{e.ID, e.Namespace, owner, shortValue(e.Content), shortValue(e.Metadata), when(&e.Updated), when(e.Expires)})
	}
	return []string{"ID", "NAMESPACE", "OWNER", "CONTENT", "METADATA", "UPDATED", "EXPIRES"}, rows
}

func (cc collectionCommands) recall() *cobra.Command {
	var f memoryFlags
	var q host.RecallEntries
	var filter string
	cmd := &cobra.Command{
		Use:   "recall NAME QUERY",
		Short: "Search one namespace of a collection",
		Example: `  toolrun collection recall articles 'broken cup'
  toolrun collection recall articles 'broken cup' --filter '{"category": "refunds"}' --limit 3 --json`,
		Args: takes(2, 2, "the NAME of a collection and a QUERY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if q.Filter, err = cc.env.document(cmd.Context(), "the filter", filter); err != nil {
				return err
			}
			if cmd.Flags().Changed("limit") && q.Limit < 1 {
				return usagef("use a number from 1 to 1000", "--limit must be at least 1")
			}
			q.Collection, q.Query = args[0], args[1]
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				found, err := s.Recall(ctx, c, q)
				if err != nil {
					return err
				}
				return cc.out.answer(found, func() error { return cc.out.table(recallTable(found)) })
			})
		},
	}
	cc.register(cmd, &f, &q.Namespace)
	embeds(cmd)
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "the maximum `number` of results: 1 to 1000 (default 10)")
	cmd.Flags().Float64Var(&q.Threshold, "threshold", 0, "the minimum `score` of the results: 0 to 1")
	cmd.Flags().StringVar(&filter, "filter", "", "the condition on the metadata as `JSON`, @file, or - for stdin")
	cmd.Flags().StringVar(&q.Mode, "mode", "", "the comparison: hybrid, vector or text (default hybrid)")
	cmd.Flags().BoolVar(&q.Scores, "scores", false, "with --json, also print the scores vector and text of each result")
	return cmd
}

// recallTable returns the column titles and the rows of a table of results.
func recallTable(found []host.RecalledEntry) (heads []string, rows [][]string) {
	for _, e := range found {
		rows = append(rows, []string{fmt.Sprintf("%.3f", e.Score), e.ID, shortValue(e.Content), shortValue(e.Metadata)})
	}
	return []string{"SCORE", "ID", "CONTENT", "METADATA"}, rows
}

// withCollections is like openApp, but returns an error if the app cannot have collections.
func (ps projects) withCollections(named string) (*project, error) {
	pr, err := ps.openApp(named)
	if err != nil || pr.app.AutoCollections || len(pr.collectionNames()) > 0 {
		return pr, err
	}
	pr.close()
	return nil, abi.Faultf(abi.NotFound, "the app has no collections").
		WithHint("declare a collection in the app file, such as `memory: {articles: {kind: collection, access: application}}`")
}

// collectionNames returns the names of the declared collections.
func (pr *project) collectionNames() []string {
	var names []string
	for _, s := range pr.app.Stores {
		if s.Kind == declare.KindCollection {
			names = append(names, s.Name)
		}
	}
	return names
}
