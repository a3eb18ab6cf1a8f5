package cli

import (
	"context"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
)

func (cc collectionCommands) reembed() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:   "reembed NAME",
		Short: "Move a collection to the embedding model that the app declares",
		Long: `Make the vectors of all entries again with the embedding model that the app now declares for the
collection. Only the vectors and revisions of the entries change. Tools can use the collection during the move.
Until the end of the move, searches with the mode vector do not find entries without a new vector, and searches with
the mode hybrid find these entries only by their words. If the command fails or is interrupted, execute the command
again to continue the move. With --server, the command requires a key with the role operator.

First start all processes of the app with the new model. A process with the previous model cannot write entries after
the beginning of the move.`,
		Example: `  toolrun collection reembed articles --models models.yaml
  toolrun collection reembed articles --server https://tools.example`,
		Args: takes(1, 1, "the NAME of a collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cc.with(cmd, &f, false, func(ctx context.Context, s collectionBackend, c host.Caller) error {
				return cc.reembedAll(ctx, s, c, args[0])
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	cmd.ValidArgsFunction = cc.projects.completeArg(&f.app, (*project).collectionNames)
	embeds(cmd)
	return cmd
}

// reembedAll calls ReembedStep repeatedly, until all entries have vectors from the declared
// embedding model.
func (cc collectionCommands) reembedAll(ctx context.Context, s collectionBackend, c host.Caller, name string) error {
	var moved atomic.Int64
	var state host.Reembedding
	err := cc.out.counting(progressText("moving "+name, &moved), func() error {
		for !state.Done {
			next, err := s.ReembedStep(ctx, c, name)
			if err != nil {
				return err
			}
			state = next
			moved.Store(int64(state.Moved))
		}
		return nil
	})
	if err != nil {
		if moved.Load() > 0 {
			cc.out.warn("moved %s before the failure; run the command again to continue", entries(int(moved.Load())))
		}
		return err
	}
	return cc.out.answer(state, func() error {
		return cc.out.say("moved %s of %s to %s (%d dimensions)", entries(state.Moved), name, state.Embedder, state.Dim)
	})
}
