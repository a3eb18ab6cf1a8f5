package host

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/model"
)

// embedKind is the kind of an external call to an embedder.
const embedKind = "embed"

// maxEmbedBytes is the maximum total size, in bytes, of the texts in one request to an embedder. If
// a single text is larger, its request contains no other text.
const maxEmbedBytes = 256 << 10

// embeddings computes or requests the vectors that an attempt needs.
type embeddings struct {
	job  *job
	view *memory.View
	ctx  context.Context // the context of the outermost run's attempt
	// gated contains the operations that require an approval in the run.
	gated []string
}

var _ kind.Embedder = embeddings{}

// Space implements kind.Embedder.
func (e embeddings) Space(name string) (id string, dim int, err error) {
	embedder, err := e.embedder(name)
	if err != nil {
		return "", 0, err
	}
	return embedder.ID(), embedder.Dim(), nil
}

func (e embeddings) embedder(name string) (model.Embedder, error) {
	embedder, _, err := e.job.h.models.Embedder(e.job.info.Caller.Tenant, name)
	return embedder, err
}

// Embed implements kind.Embedder. A local embedder computes the vectors in this process. If the
// embedder is remote, the run is parked until the vectors have arrived.
func (e embeddings) Embed(ctx context.Context, name string, texts []string, query bool) ([][]float32, error) {
	embedder, err := e.embedder(name)
	if err != nil {
		return nil, err
	}
	release, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if local, ok := embedder.(model.LocalEmbedder); ok {
		return computed(ctx, local, texts)
	}
	if inv := e.job.inv; inv.Mocks != nil || inv.DryRun && !inv.Live {
		return nil, notEmbedded(inv)
	}
	purpose, operation := model.Document, abi.Remember
	if query {
		purpose, operation = model.Query, abi.Recall
	}
	if e.job.inv.DryRun && slices.Contains(e.gated, operation) {
		return nil, unapprovedFault(operation)
	}
	x, err := externalsOf(e.ctx, e.job, e.view)
	if err != nil {
		return nil, err
	}
	return x.embed(ctx, embedding{embedder, name, purpose}, texts)
}

// enter acquires a slot at the gate if the job has none. A job has no slot after its guest has
// ended.
func (e embeddings) enter(ctx context.Context) (release func(), err error) {
	root := cmp.Or(e.job.root, e.job)
	if root.admitted {
		return func() {}, nil
	}
	if err := root.admit(ctx); err != nil {
		return nil, &stop{abi.FaultOf(err)}
	}
	return func() { leave(root) }, nil
}

// notEmbedded returns the error of a run that must not call an embedder. For a dry run, this error
// is kind.ErrNoVectors, and the dry run continues without vectors.
func notEmbedded(inv Invocation) error {
	if inv.DryRun {
		return kind.ErrNoVectors
	}
	return abi.Faultf(abi.Unavailable, "a run with mocks does not call embedding models").
		WithHint("use --dry-run, or declare `embedding: lexical`")
}

// computed returns the vectors that a local embedder computes.
func computed(ctx context.Context, local model.LocalEmbedder, texts []string) ([][]float32, error) {
	const maxTexts, maxBytes = 16, 64 << 10 // between two checks of the context, at least one text
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, size := 1, len(texts[0])
		for ; n < min(maxTexts, len(texts)) && size+len(texts[n]) <= maxBytes; n++ {
			size += len(texts[n])
		}
		vectors = append(vectors, local.Vectors(texts[:n])...)
		texts = texts[n:]
	}
	return vectors, nil
}

// transactEmbedding waits until the gate admits the operator. Then it executes the operator's
// transaction, which can embed texts.
func transactEmbedding(ctx context.Context, h *Host, caller Caller, tx *memory.Tx, body func(context.Context, *memory.View) error) (done memory.Done, err error) {
	j := newJob(h, Invocation{Caller: caller}, actOperate)
	j.info.ID, j.info.Caller.Tenant = tx.Caller.Run, tx.Caller.Tenant
	if err := j.admit(ctx); err != nil {
		return done, err
	}
	defer leave(&j)
	done, err = h.memory.Transact(ctx, tx, func(ctx context.Context, v *memory.View) error {
		memory.SetEmbedder(v, embeddings{&j, v, ctx, nil})
		if err := beginExternal(ctx, &j, v); err != nil {
			return stoppedFault(err)
		}
		return body(ctx, v)
	})
	j.external.close()
	if err == nil {
		j.external.shareVectors()
	}
	if used := j.external.used(); used.Calls > 0 {
		h.meter.add(j.info.Caller.Tenant, j.began, metering.Counts{
			ModelCalls: int64(used.Calls), InputTokens: int64(used.InputTokens), OutputTokens: int64(used.OutputTokens),
		})
	}
	return done, stoppedFault(err)
}
