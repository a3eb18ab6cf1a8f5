package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// Reembedding is the state of moving a collection to another embedding model.
type Reembedding struct {
	// Embedder is the id of the embedding model that the app declares for the collection. Dim is
	// the dimension of this model's vectors.
	Embedder string `json:"embedder"`
	Dim      int    `json:"dimension"`
	// Moved is the number of entries that have received new vectors since the move began. Entries
	// that earlier calls have moved also count.
	Moved int `json:"moved"`
	// Done is true if the move is complete. The collection then uses the new model.
	Done bool `json:"done"`
}

const (
	// reembedTime is the time after which a call of ReembedStep does not begin another batch.
	reembedTime = 5 * time.Second
	// embedTime is the time limit for computing the vectors of a batch. embedTime is shorter than
	// the lease of a move.
	embedTime = 90 * time.Second
)

// Reembed moves a collection to the embedding model that the app declares. The declared model
// computes a new vector for each entry. Reembed calls ReembedStep until the move is done. If the
// function "report" is not nil, Reembed calls it after each step.
func (c Collections) Reembed(ctx context.Context, caller Caller, name string, report func(Reembedding)) (Reembedding, error) {
	for {
		state, err := c.ReembedStep(ctx, caller, name)
		if err != nil || state.Done {
			return state, err
		}
		if report != nil {
			report(state)
		}
	}
}

// ReembedStep moves entries of a collection for about five seconds. The progress of the move is
// stored with each batch. After a failure or a crash, another call continues the move. The tokens
// that the model uses count against the quotas of the app and the tenant, but not against the
// quotas of users. Only one process at a time can move a collection. In the meantime, calls in
// other processes fail with the fault conflict.
//
// Runs can read and write entries during the move. Until an entry has a vector of the declared
// model, a search with the mode hybrid or text finds this entry only by its words, and a search
// with the mode vector does not find this entry.
func (c Collections) ReembedStep(ctx context.Context, caller Caller, name string) (state Reembedding, err error) {
	id, err := c.h.newID("op")
	if err != nil {
		return state, err
	}
	mv := mover{c: c, caller: caller, tenant: caller.as("").Tenant}
	if mv.name, err = memory.EmbeddingOf(c.h.memory, name); err != nil {
		return state, err
	}
	if mv.embedder, _, err = c.h.models.Embedder(mv.tenant, mv.name); err != nil {
		return state, err
	}
	state.Embedder, state.Dim = mv.embedder.ID(), mv.embedder.Dim()
	err = c.h.admitted(ctx, caller, func() (err error) {
		mv.move, err = memory.BeginMove(ctx, c.h.memory, mv.tenant, name, id, kind.VectorSpace{Embedder: state.Embedder, Dim: state.Dim})
		return err
	})
	if err == nil && mv.move != nil {
		state.Done, err = mv.run(ctx)
		state.Moved = mv.move.Moved()
	} else if err == nil {
		state.Done = true
	}
	if err != nil {
		c.h.ledger.recordAct(caller, id, actReembed, report.Effects{}, err)
	}
	return state, err
}

// mover executes a step of a move.
type mover struct {
	c        Collections
	caller   Caller
	tenant   string
	name     string // of the embedder
	embedder model.Embedder
	move     *memory.Move
}

// run moves batches of entries until the time limit is reached. run reports whether the move is
// done.
func (mv mover) run(ctx context.Context) (done bool, err error) {
	defer func() {
		if done {
			return
		}
		if released := mv.move.Release(context.WithoutCancel(ctx)); err == nil {
			err = released
		}
	}()
	for until := time.Now().Add(reembedTime); !done && time.Now().Before(until); {
		if done, err = mv.batch(ctx); err != nil {
			return false, err
		}
	}
	if done {
		err = mv.move.Finish(ctx)
		done = err == nil
	}
	return done, err
}

// batch moves a batch of entries. batch reports whether all entries of the collection have been
// moved.
func (mv mover) batch(ctx context.Context) (done bool, err error) {
	id, err := mv.c.h.newID("op")
	if err != nil {
		return false, err
	}
	var b memory.MoveBatch
	err = mv.c.h.admitted(ctx, mv.caller, func() (err error) {
		b, err = mv.move.Next(ctx, mv.embedder.MaxTexts(), maxEmbedBytes)
		return err
	})
	if err != nil {
		return false, err
	}
	vectors, err := mv.vectors(ctx, b.Texts)
	if err != nil {
		return false, err
	}
	var writes []report.WriteEffect
	err = mv.c.h.admitted(ctx, mv.caller, func() (err error) {
		writes, done, err = mv.move.Store(ctx, b, vectors)
		return err
	})
	if len(writes) > 0 {
		mv.c.h.ledger.recordAct(mv.caller, id, actReembed, report.Effects{Reads: []report.ReadEffect{}, Writes: writes}, nil)
	}
	return done, err
}

// vectors returns the vectors of a batch's texts. All texts of a batch fit into one request to the
// embedder. Equal texts are embedded only once.
func (mv mover) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors := make([][]float32, len(texts))
	distinct := slices.Compact(slices.Sorted(slices.Values(texts)))
	if len(distinct) == 0 {
		return vectors, nil
	}
	made, err := mv.embedAll(ctx, distinct)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		at, _ := slices.BinarySearch(distinct, text)
		vectors[i] = made[at]
	}
	return vectors, nil
}

// minEmbedded is the size below which embedAll does not shorten a rejected text. Every embedder
// must accept texts of this size.
const minEmbedded = 2 << 10

// embedAll returns the vectors of texts. If the embedder rejects a request, embedAll sends the two
// halves of the texts in separate requests. A single text is shortened, because one user's text must
// not stop the move of all entries.
func (mv mover) embedAll(ctx context.Context, texts []string) ([][]float32, error) {
	made, err := mv.embed(ctx, texts)
	if !errors.Is(err, abi.InvalidArgument) && !errors.Is(err, abi.TooLarge) {
		return made, err
	}
	if len(texts) == 1 {
		if len(texts[0]) <= minEmbedded {
			return nil, err
		}
		return mv.embedAll(ctx, []string{strings.ToValidUTF8(texts[0][:len(texts[0])/2], "")})
	}
	first, err := mv.embedAll(ctx, texts[:len(texts)/2])
	if err != nil {
		return nil, err
	}
	second, err := mv.embedAll(ctx, texts[len(texts)/2:])
	return append(first, second...), err
}

// embed sends a request to the embedder and counts the usage of this request. If the embedder is
// local, it computes the vectors in this process, after the gate has admitted the operation.
func (mv mover) embed(ctx context.Context, texts []string) (made [][]float32, err error) {
	h := mv.c.h
	if local, ok := mv.embedder.(model.LocalEmbedder); ok {
		err = h.admitted(ctx, mv.caller, func() (err error) {
			made, err = computed(ctx, local, texts)
			return err
		})
		return made, err
	}
	consumer := model.Consumer{Tenant: mv.tenant, App: h.app.ID}
	if err := h.models.CheckBudget(model.Embeddings, mv.name, consumer, h.now()); err != nil {
		return nil, err
	}
	made, used, err := mv.embedder.Embed(ctx, texts, model.Document)
	h.models.Count(model.Embeddings, mv.name, consumer, used, h.now())
	h.meter.add(mv.tenant, h.now(), metering.Counts{ModelCalls: 1, InputTokens: int64(used.InputTokens), OutputTokens: int64(used.OutputTokens)})
	if err != nil && ctx.Err() != nil {
		return nil, abi.Faultf(abi.Timeout, "the embedding model %q did not answer in time", mv.name)
	}
	if err != nil {
		return nil, err
	}
	return made, checkVectors(made, len(texts), mv.embedder.Dim())
}
