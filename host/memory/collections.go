package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// namespacePartition contains the records of one namespace of a collection that an attempt can
// access.
type namespacePartition struct{ *storePartition }

var (
	_ kind.NamespacedPartition = (*storePartition)(nil)
	_ kind.Namespace           = namespacePartition{}
)

// Namespace implements kind.NamespacedPartition.
func (p *storePartition) Namespace(name string) (kind.Namespace, error) {
	key, scope := p.key, p.scope
	if p.store.Collection.Auto && name != "" {
		scope = declare.ScopeUser
		var err error
		what := fmt.Sprintf("a namespace with a name in the undeclared collection %q", p.store.Name)
		if key, err = p.store.scopedKey(p.view.s.app.Group(p.view.caller), scope, p.view.caller, what, p.view.authority.holder()); err != nil {
			return nil, err
		}
	}
	return namespacePartition{p.view.partition(p.store, scope, key.With(storage.Part{Tag: storage.Namespace, Value: "/" + name}))}, nil
}

// Prefix implements kind.Namespace.
func (p namespacePartition) Prefix() storage.Key { return p.key }

// Written implements kind.Namespace.
func (p namespacePartition) Written() []kind.Written {
	var written []kind.Written
	p.view.tx.Writes(func(stored, next storage.Record) bool {
		if key := cmp.Or(next.Key, stored.Key); key.HasPrefix(p.key) && key != "" {
			written = append(written, kind.Written{Key: key, Record: next, Stored: stored})
		}
		return true
	})
	return written
}

// Peek implements kind.Namespace.
func (p namespacePartition) Peek(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	for _, key := range keys {
		if !key.HasPrefix(p.key) {
			return nil, fmt.Errorf("the record %s is not in the namespace %s", key, p.key)
		}
	}
	return p.view.tx.Peek(ctx, keys...)
}

// Stored implements kind.Namespace.
func (p namespacePartition) Stored(ctx context.Context, after string, limit int) ([]storage.Record, error) {
	start := storage.Key("")
	if after != "" {
		start = p.recordKey(after)
	}
	return p.view.s.backend.Scan(ctx, p.key, start, limit)
}

// items is the encoding of the random bytes in the item of a new record.
var items = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewItem implements kind.Namespace.
func (p namespacePartition) NewItem() (string, error) {
	v := p.view
	seed, err := v.Seed()
	if err != nil {
		return "", err
	}
	v.items++
	text := binary.BigEndian.AppendUint64([]byte("item\x00"+v.caller.Run+"\x00"), seed)
	digest := sha256.Sum256(binary.BigEndian.AppendUint64(text, v.items))
	return items.EncodeToString(digest[:15]), nil
}

// maxDim is the maximum dimension of vectors.
const maxDim = 16_384

// Pin implements kind.Namespace. A search does not add the record of the embedder to the read set.
func (p namespacePartition) Pin(ctx context.Context, embedder string, write bool) (kind.VectorSpace, error) {
	v, none := p.view, kind.VectorSpace{}
	if v.mocks.test {
		return none, nil // a test run computes no vectors
	}
	key := v.s.app.Embedding(v.caller, p.store.Name)
	r, err := p.readPin(ctx, key, write)
	if err != nil || !r.Exists() && !write {
		return none, err
	}
	is, err := spaceOfEmbedder(embedderOf(v), embedder)
	if err != nil {
		return none, err
	}
	if r.Exists() {
		stored, err := pinIn(r)
		if err == nil {
			err = stored.check(is, p.store.Name, write)
		}
		return is, err
	}
	made := pinOf(is)
	if p.store.Collection.Auto {
		if err := checkUndeclared(ctx, v, p.store.Name); err != nil {
			return none, err
		}
		made.Maker = makerOf(v.s.app, v.caller)
	}
	content, err := json.Marshal(made)
	if err != nil {
		return none, err
	}
	return is, v.tx.Apply(ctx, key, func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{Content: content}, nil, nil
	})
}

// spaceOfEmbedder returns the id of the vector space of an embedder.
func spaceOfEmbedder(e kind.Embedder, name string) (is kind.VectorSpace, err error) {
	if is.Embedder, is.Dim, err = e.Space(name); err != nil {
		return is, err
	}
	return is, checkDim(name, is.Dim)
}

func checkDim(name string, dim int) error {
	if dim < 1 || dim > maxDim {
		return abi.Faultf(abi.Unavailable, "the embedding model %q has %d dimensions; the limit is %d", name, dim, maxDim)
	}
	return nil
}

// readPin reads the record that contains the collection's embedder.
func (p namespacePartition) readPin(ctx context.Context, key storage.Key, join bool) (storage.Record, error) {
	if join {
		return p.view.tx.Get(ctx, key)
	}
	found, err := p.view.tx.Peek(ctx, key)
	if err != nil {
		return storage.Record{}, err
	}
	return found[0], nil
}

// Embed implements kind.Namespace. The method returns a fault if the embedder does not return valid
// vectors.
func (p namespacePartition) Embed(ctx context.Context, embedder string, texts []string, query bool) ([][]float32, error) {
	if p.view.mocks.test {
		return nil, kind.ErrNoVectors
	}
	e := embedderOf(p.view)
	_, dim, err := e.Space(embedder)
	if err != nil {
		return nil, err
	}
	if p.view.guard != nil {
		if err := p.view.guard(); err != nil {
			p.view.closed = err
			return nil, err
		}
	}
	vectors, err := e.Embed(ctx, embedder, texts, query)
	if err != nil {
		if _, ok := errors.AsType[*abi.Fault](err); !ok && !errors.Is(err, kind.ErrNoVectors) {
			p.view.closed = err
		}
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, abi.Faultf(abi.Unavailable, "the embedding model %q returned %d vectors for %d texts", embedder, len(vectors), len(texts))
	}
	for _, vector := range vectors {
		if len(vector) != dim {
			return nil, abi.Faultf(abi.Unavailable, "the embedding model %q returned a vector of %d dimensions instead of %d", embedder, len(vector), dim)
		}
		if !isUnit(vector) {
			return nil, abi.Faultf(abi.Unavailable, "the embedding model %q returned a vector with an invalid number", embedder)
		}
	}
	return vectors, nil
}

// isUnit reports whether the length of a vector is 0 or, apart from rounding errors, 1. If an
// element is NaN, the sum of the squares is also NaN.
func isUnit(vector []float32) bool {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return sum == 0 || sum > 0.99 && sum < 1.01
}

// SetEmbedder sets the embedder of a View. Default: Config.Embedder. Only the host may call
// SetEmbedder.
func SetEmbedder(v *View, e kind.Embedder) { v.embeds = e }

// SetGuard sets a function that a View calls before each call of its embedder. If the function
// returns an error, the View does not call the embedder, and the attempt ends with the error.
// Default: nil, which means no function. Only the host may call SetGuard.
func SetGuard(v *View, guard func() error) { v.guard = guard }

// embedderOf returns the embedder of an attempt.
func embedderOf(v *View) kind.Embedder {
	if v.embeds != nil {
		return v.embeds
	}
	return v.s.embedder
}

// Complete completes the records that the attempt has written: Complete computes the vectors of the
// entries of collections. The transaction calls Complete after its body. The body can also call
// Complete, to receive faults before the end of the body. A second call of Complete does nothing.
func Complete(ctx context.Context, v *View) error {
	if !NeedsCompletion(v) {
		return nil
	}
	var names []string
	spaces := map[string][]kind.Namespace{}
	for _, p := range v.partitions {
		if !p.isNamespace() {
			continue
		}
		if spaces[p.store.Name] == nil {
			names = append(names, p.store.Name)
		}
		spaces[p.store.Name] = append(spaces[p.store.Name], namespacePartition{p})
	}
	for _, name := range names {
		at := slices.IndexFunc(v.partitions, func(p *storePartition) bool { return p.store.Name == name })
		if err := v.partitions[at].store.compiled.(kind.Completer).Complete(ctx, spaces[name]); err != nil {
			return v.classify(ctx, err, abi.Remember, name)
		}
	}
	return nil
}

// NeedsCompletion reports whether the attempt has used a collection. If not, Complete does nothing.
func NeedsCompletion(v *View) bool {
	return slices.ContainsFunc(v.partitions, (*storePartition).isNamespace)
}

// isNamespace reports whether the partition is a namespace of a collection.
func (p *storePartition) isNamespace() bool {
	return p.store.Kind == declare.KindCollection && p.key.Part(storage.Namespace) != ""
}

// lookup returns the store with a given name. If no such store exists, lookup returns nil. If the
// app allows collections without a declaration, lookup returns such a collection for each valid
// name that is not declared.
func lookup(s *Service, name string) *store {
	if st := s.stores[name]; st != nil || !s.autoCollections || declare.CheckName(name) != nil {
		return st
	}
	for other := range s.stores {
		if strings.EqualFold(other, name) {
			return nil
		}
	}
	return autoCollection(s, name)
}

// autoCollection returns the store for a collection that is not declared. If the name is invalid,
// autoCollection returns nil.
func autoCollection(s *Service, name string) *store {
	st, err := s.kinds.compile(declare.AutoCollection(name), s.limits.content())
	if err != nil {
		return nil
	}
	return st
}

// storeOfKey returns the store to which the key of a record belongs. If the store is not declared,
// storeOfKey returns nil.
func storeOfKey(s *Service, key storage.Key) *store {
	name := key.Part(storage.Store)
	if st := s.stores[name]; st != nil || key.Part(storage.Namespace) == "" {
		return st
	}
	return lookup(s, name)
}
