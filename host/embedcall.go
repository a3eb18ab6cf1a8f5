package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// embedding describes how texts are embedded. embedding contains an embedder, the name of this
// embedder, and the purpose of the vectors.
type embedding struct {
	model.Embedder
	name    string
	purpose model.Purpose
}

func (e embedding) key(text string) model.VectorKey {
	return model.NewVectorKey(e.ID(), e.purpose, text)
}

// embed returns a vector of unit length for each text. embed sends the texts in batches and waits
// for the answers to all batches. If several texts are equal, this text is sent once.
func (x *externals) embed(ctx context.Context, e embedding, texts []string) ([][]float32, error) {
	distinct := map[string][]float32{}
	w := waiting{x: x}
	batches := e.batches(texts)
	for i, batch := range batches {
		if err := x.addEmbedding(&w, uint64(i), e, batch); err != nil {
			return nil, err
		}
	}
	for range batches {
		answer, err := w.next(ctx, time.Time{})
		if err == nil {
			err = answer.err
		}
		if err != nil {
			return nil, err
		}
		for i, text := range batches[answer.id] {
			distinct[text] = decodeVector(answer.content, i, e.Dim())
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = distinct[text]
	}
	return vectors, nil
}

// batches divides the texts into requests. If a text occurs several times, only one request
// contains the text.
func (e embedding) batches(texts []string) (batches [][]string) {
	seen, size := map[string]bool{}, 0
	for _, text := range texts {
		if seen[text] {
			continue
		}
		seen[text] = true
		last := len(batches) - 1
		if last < 0 || len(batches[last]) == e.MaxTexts() || size+len(text) > maxEmbedBytes {
			batches, size = append(batches, nil), 0
			last++
		}
		batches[last] = append(batches[last], text)
		size += len(text)
	}
	return batches
}

// addEmbedding adds a call to w. The call sends a request to an embedder. If the vectors of all
// texts are known, no request is sent. If an earlier attempt of the run has sent the request, its
// answer is used.
func (x *externals) addEmbedding(w *waiting, id uint64, e embedding, texts []string) error {
	body, err := json.Marshal([]any{e.ID(), e.purpose, texts})
	if err != nil {
		return err
	}
	call := externalCall{kind: embedKind, target: e.name, body: body, do: func(ctx context.Context, key string) ([]byte, error) {
		return x.sendEmbedding(ctx, e, texts)
	}}
	if err := w.add(id, call); err != nil {
		return err
	}
	if added := w.calls[len(w.calls)-1]; added.prepared.Order() == 0 {
		if vectors := x.knownVectors(e, texts); !slices.ContainsFunc(vectors, isMissing) {
			added.done, added.content = true, encodeVectors(vectors)
			x.models.set.Vectors().Count(len(texts), 0)
		}
	}
	return nil
}

// sendEmbedding sends only the texts whose vectors are not known, and records the usage of this
// request. sendEmbedding returns the vectors of all texts.
func (x *externals) sendEmbedding(ctx context.Context, e embedding, texts []string) ([]byte, error) {
	vectors := x.knownVectors(e, texts)
	var missing []string
	for i, vector := range vectors {
		if isMissing(vector) {
			missing = append(missing, texts[i])
		}
	}
	x.models.set.Vectors().Count(len(texts)-len(missing), len(missing))
	if err := x.models.set.CheckBudget(model.Embeddings, e.name, x.models.consumer, x.h.now()); err != nil {
		return nil, err
	}
	made, used, err := e.Embed(ctx, missing, e.purpose)
	x.models.set.Count(model.Embeddings, e.name, x.models.consumer, used, x.h.now())
	x.count(e.name, report.ModelUsage{Calls: 1, InputTokens: used.InputTokens, OutputTokens: used.OutputTokens})
	if err != nil {
		return nil, err
	}
	if err := checkVectors(made, len(missing), e.Dim()); err != nil {
		return nil, err
	}
	for i := range vectors {
		if isMissing(vectors[i]) {
			vectors[i], made = made[0], made[1:]
		}
	}
	x.keepVectors(e, texts, vectors)
	return encodeVectors(vectors), nil
}

func isMissing(vector []float32) bool { return vector == nil }

// checkVectors rejects an answer that does not contain the right number of vectors, or that contains
// a vector whose length is not 1.
func checkVectors(vectors [][]float32, count, dim int) error {
	if len(vectors) != count {
		return abi.Faultf(abi.Unavailable, "the embedding model returned %d vectors for %d texts", len(vectors), count)
	}
	for _, vector := range vectors {
		if len(vector) != dim {
			return abi.Faultf(abi.Unavailable, "the embedding model returned a vector of %d dimensions; expected %d", len(vector), dim)
		}
		squares := 0.0
		for _, x := range vector {
			squares += float64(x) * float64(x)
		}
		if !(math.Abs(squares-1) < 0.01) {
			return abi.Faultf(abi.Unavailable, "the embedding model returned a vector whose length is not 1")
		}
	}
	return nil
}

// knownVectors returns vectors that this run or an earlier run of the same user has received. If
// the vector of a text is not known, the result contains nil for this text.
func (x *externals) knownVectors(e embedding, texts []string) [][]float32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		key := e.key(text)
		if vectors[i] = x.vectors[key]; vectors[i] == nil {
			vectors[i] = x.models.set.Vectors().Get(x.models.consumer, key, x.h.now())
		}
	}
	return vectors
}

// keepVectors keeps vectors, so that later attempts of the run can use them.
func (x *externals) keepVectors(e embedding, texts []string, vectors [][]float32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.vectors == nil {
		x.vectors = map[model.VectorKey][]float32{}
	}
	for i, text := range texts {
		x.vectors[e.key(text)] = vectors[i]
	}
}

// shareVectors adds the vectors of the run to the cache. Call shareVectors only after a successful
// run. If the vectors of a failed run were shared, the cache could contain data of a user who was
// erased during the run.
func (x *externals) shareVectors() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.vectors) > 0 {
		x.models.set.Vectors().Put(x.models.consumer, x.erasures, x.vectors, x.h.now())
	}
}

// encodeVectors encodes vectors. All vectors must have the same length. Each number has 4 bytes
// (IEEE 754, little-endian).
func encodeVectors(vectors [][]float32) []byte {
	var content []byte
	for _, vector := range vectors {
		for _, x := range vector {
			content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
		}
	}
	return content
}

// decodeVector returns the vector with the given index.
func decodeVector(content []byte, index, dim int) []float32 {
	vector := make([]float32, dim)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(content[4*(index*dim+i):]))
	}
	return vector
}
