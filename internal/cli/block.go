package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory/block"
)

// blockBackend reads and writes blocks; see host.Blocks.
type blockBackend interface {
	List(ctx context.Context, c host.Caller, scope block.Scope) ([]block.Block, error)
	Get(ctx context.Context, c host.Caller, name string, agent bool) (*block.Block, error)
	Update(ctx context.Context, c host.Caller, u host.BlockUpdate) (*block.Block, error)
	Delete(ctx context.Context, c host.Caller, u host.BlockUpdate) (deleted bool, err error)
	// Declarations returns the blocks that the app declares.
	Declarations(ctx context.Context) ([]block.Declaration, error)
}

// localBlocks contains the blocks of an opened app.
type localBlocks struct{ host.Blocks }

var _ blockBackend = localBlocks{}

// Declarations returns the blocks that the app declares.
func (l localBlocks) Declarations(context.Context) ([]block.Declaration, error) {
	list := []block.Declaration{}
	for _, b := range l.Declared() {
		list = append(list, block.DeclarationOf(b))
	}
	return list, nil
}

// blockCommands implements the commands that read and write blocks.
type blockCommands struct{ baseCommand }

func (bc blockCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "block",
		Short: "Read and write blocks, the texts about a user, bypassing grants",
		Long: `Read and write the blocks of an app, as its operator. Grants do not apply to these commands, but the
limits of blocks apply. With --agent, the commands use the agent's blocks for the user.`,
		Example: `  toolrun block get core --user ann
  toolrun block set core --content '- Prefers tea' --user ann
  toolrun block list --user ann --all`,
	})
	cmd.AddCommand(bc.get(), bc.set(), bc.delete(), bc.list())
	return cmd
}

// The method "with" opens an app with blocks and passes the blocks to the function "body".
func (bc blockCommands) with(cmd *cobra.Command, f *memoryFlags, keep bool, body func(context.Context, blockBackend, host.Caller) error) error {
	return bc.apps.with(cmd, f, bc.projects.withBlocks, keep, func(opened *openedApp, caller host.Caller) error {
		return body(cmd.Context(), opened.blocks, caller)
	})
}

// register registers the flags that all commands for blocks have.
func (bc blockCommands) register(cmd *cobra.Command, f *memoryFlags) {
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	f.userFlag(cmd)
	f.agentFlag(cmd)
}

func (bc blockCommands) get() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Print the text of a block; with --json, print the whole block, or null if the block does not exist",
		Example: `  toolrun block get core --user ann
  toolrun block get core --user ann --agent Support --json`,
		Args: takes(1, 1, "the NAME of a block"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bc.with(cmd, &f, false, func(ctx context.Context, s blockBackend, c host.Caller) error {
				found, err := s.Get(ctx, c, args[0], c.Agent != "")
				if err != nil {
					return err
				}
				return bc.out.answer(found, func() error {
					if found == nil {
						return abi.Faultf(abi.NotFound, "the block %s does not exist", args[0])
					}
					return bc.out.say("%s", strings.TrimSuffix(found.Content, "\n"))
				})
			})
		},
	}
	bc.register(cmd, &f)
	cmd.ValidArgsFunction = bc.projects.completeArg(&f.app, (*project).blockNames)
	return cmd
}

// versionFlags contains the flags for the version that a block must have before a command changes
// the block.
type versionFlags struct {
	updated  string
	revision int64
	replace  bool
}

func (v *versionFlags) register(cmd *cobra.Command, verb string) {
	cmd.Flags().StringVar(&v.updated, "expected", "", verb+" only if the block has this updated_at `time`, such as 2026-04-30T16:20:00.000Z")
	cmd.Flags().Int64Var(&v.revision, "if-revision", 0, verb+" only if the block has this revision")
	cmd.Flags().BoolVar(&v.replace, "replace", false, verb+" the block without a check of its version")
}

// expected returns the version in the flags --expected and --if-revision. The zero value means that
// the block must not exist.
func (v *versionFlags) expected() (e block.Expected, err error) {
	if v.replace && (v.updated != "" || v.revision != 0) {
		return e, usagef("omit one of the conflicting flags", "--replace cannot be combined with --expected and --if-revision")
	}
	if v.updated != "" {
		t, ok := block.ParseTime(v.updated)
		if !ok {
			return e, usagef("use the time updated_at that `toolrun block get --json` prints", "the text %q is not a time", v.updated)
		}
		e.Updated = t
	}
	e.Revision = v.revision
	return e, nil
}

// settle returns the version that a block must have before the command changes the block. If the
// flag --replace is set, the expected version is the currently stored version.
func (v *versionFlags) settle(ctx context.Context, s blockBackend, c host.Caller, name string) (block.Expected, error) {
	e, err := v.expected()
	if err != nil || !v.replace {
		return e, err
	}
	now, err := s.Get(ctx, c, name, c.Agent != "")
	if err != nil || now == nil {
		return e, err
	}
	return block.Expected{Revision: now.Revision}, nil
}

func (bc blockCommands) set() *cobra.Command {
	var f memoryFlags
	var v versionFlags
	var content string
	cmd := &cobra.Command{
		Use:   "set NAME --content TEXT|@file|-",
		Short: "Replace the text of a block, or create the block",
		Long: `Replace the text of a block, or create the block. Without --expected, --if-revision and --replace, the
block must not exist.`,
		Example: `  toolrun block set core --content '- Prefers tea' --user ann
  toolrun block set core --content @core.md --replace --user ann
  toolrun block set archival --content - --if-revision 1777566000000 --user ann < archival.md`,
		Args: takes(1, 1, "the NAME of a block"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("content") {
				return usagef("add --content TEXT, --content @file or --content -", "--content is missing")
			}
			text, err := bc.env.read(cmd.Context(), "the content", content)
			if err != nil {
				return err
			}
			return bc.with(cmd, &f, true, func(ctx context.Context, s blockBackend, c host.Caller) error {
				expected, err := v.settle(ctx, s, c, args[0])
				if err != nil {
					return err
				}
				stored, err := s.Update(ctx, c, host.BlockUpdate{Name: args[0], Agent: c.Agent != "", Content: string(text), Expected: expected})
				if err != nil {
					return v.explainSet(err, args[0])
				}
				return bc.out.answer(stored, func() error {
					return bc.out.say("stored %s, updated at %s", stored.ID, block.FormatTime(stored.Updated))
				})
			})
		},
	}
	bc.register(cmd, &f)
	v.register(cmd, "write")
	cmd.Flags().StringVar(&content, "content", "", "the new `text`, @file, or - for stdin")
	cmd.ValidArgsFunction = bc.projects.completeArg(&f.app, (*project).blockNames)
	return cmd
}

func (bc blockCommands) delete() *cobra.Command {
	var f memoryFlags
	var v versionFlags
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a block",
		Long:  `Delete a block. One of --expected, --if-revision and --replace is required if the block exists.`,
		Example: `  toolrun block delete core --replace --user ann
  toolrun block delete core --if-revision 1777566000000 --user ann --agent Support`,
		Args: takes(1, 1, "the NAME of a block"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bc.with(cmd, &f, false, func(ctx context.Context, s blockBackend, c host.Caller) error {
				expected, err := v.settle(ctx, s, c, args[0])
				if err != nil {
					return err
				}
				deleted, err := s.Delete(ctx, c, host.BlockUpdate{Name: args[0], Agent: c.Agent != "", Expected: expected})
				if err != nil {
					return v.explainDelete(err, args[0])
				}
				answer := struct {
					Success bool `json:"success"`
					Deleted bool `json:"deleted"`
				}{true, deleted}
				return bc.out.answer(answer, func() error {
					if deleted {
						return bc.out.say("deleted %s", args[0])
					}
					return bc.out.say("the block %s does not exist", args[0])
				})
			})
		},
	}
	bc.register(cmd, &f)
	v.register(cmd, "delete")
	cmd.ValidArgsFunction = bc.projects.completeArg(&f.app, (*project).blockNames)
	return cmd
}

func (bc blockCommands) list() *cobra.Command {
	var f memoryFlags
	var all, declared bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the blocks of a user, or of a user and an agent, or the blocks that the app declares",
		Long: `List the existing blocks of a user, or of a user and an agent. With --declared, list the blocks that the app declares,
with their limits.`,
		Example: `  toolrun block list --user ann
  toolrun block list --user ann --all --json
  toolrun block list --declared`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if declared && all {
				return usagef("omit one of the conflicting flags", "--declared cannot be combined with --all")
			}
			return bc.with(cmd, &f, false, func(ctx context.Context, s blockBackend, c host.Caller) error {
				if declared {
					return bc.listDeclared(ctx, s)
				}
				scope := block.ScopeUser
				switch {
				case all:
					scope = block.ScopeAll
				case c.Agent != "":
					scope = block.ScopeAgent
				}
				found, err := s.List(ctx, c, scope)
				if err != nil {
					return err
				}
				return bc.out.answer(found, func() error { return bc.out.table(blockTable(found)) })
			})
		},
	}
	bc.register(cmd, &f)
	cmd.Flags().BoolVar(&all, "all", false, "list the blocks of the user and of all agents, or of the user and the --agent")
	cmd.Flags().BoolVar(&declared, "declared", false, "list the blocks that the app declares, with their limits, instead of texts")
	return cmd
}

// listDeclared prints the blocks that the app declares.
func (bc blockCommands) listDeclared(ctx context.Context, s blockBackend) error {
	declared, err := s.Declarations(ctx)
	if err != nil {
		return err
	}
	return bc.out.answer(declared, func() error {
		var rows [][]string
		for _, d := range declared {
			entries := ""
			if d.Entries != nil {
				entries = strconv.Itoa(*d.Entries)
			}
			rows = append(rows, []string{d.Name, d.Use, strconv.Itoa(d.Characters), entries, d.Language, d.Description})
		}
		return bc.out.table([]string{"BLOCK", "USE", "CHARACTERS", "ENTRIES", "LANGUAGE", "DESCRIPTION"}, rows)
	})
}

// blockTable returns the column titles and the rows of a table of blocks.
func blockTable(blocks []block.Block) (heads []string, rows [][]string) {
	for _, b := range blocks {
		rows = append(rows, []string{b.Name, string(b.Scope()), b.Agent, block.FormatTime(b.Updated), shortText(b.Content)})
	}
	return []string{"BLOCK", "SCOPE", "AGENT", "UPDATED", "CONTENT"}, rows
}

// shortText shortens a text to one line for a table.
func shortText(text string) string {
	return shortValue([]byte(strings.Join(strings.Fields(text), " ")))
}

// withBlocks is like openApp, but returns an error if the app has no blocks.
func (ps projects) withBlocks(named string) (*project, error) {
	pr, err := ps.openApp(named)
	if err != nil || pr.app.Blocks != nil {
		return pr, err
	}
	pr.close()
	return nil, abi.Faultf(abi.NotFound, "the app has no blocks").WithHint("add `blocks: true` to the app file")
}

// blockNames returns the names of the blocks.
func (pr *project) blockNames() []string {
	var names []string
	for _, b := range pr.app.Blocks {
		names = append(names, b.Name)
	}
	return names
}
