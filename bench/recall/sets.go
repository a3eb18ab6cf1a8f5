package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/model/lexical"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
)

// set contains entries and queries. No query is also an entry.
type set struct {
	name    string
	prefix  storage.Key
	entries []index.Entry
	queries []index.Entry
}

func newSet(name string, entries []index.Entry) *set {
	prefix := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "bench"}, storage.Part{Tag: storage.App, Value: "recall"}, storage.Part{Tag: storage.Store, Value: name})
	s := &set{name: name, prefix: prefix, entries: entries[:len(entries)-queries], queries: entries[len(entries)-queries:]}
	for i := range s.entries {
		e := &s.entries[i]
		e.Key = prefix.With(storage.Part{Tag: storage.Item, Value: fmt.Sprintf("entry-%06d", i)})
		e.Metadata = map[string]any{groupName: i % groups, "title": fmt.Sprintf("entry %d", i/groups)}
	}
	return s
}

// The method "first" returns a smaller set, which contains the first entries and the same queries.
func (s *set) first(name string, n int) *set {
	entries := append([]index.Entry(nil), s.entries[:n]...)
	return newSet(name, append(entries, s.queries...))
}

// textSet returns a set of texts with their vectors. The texts are comments in Go sources.
func textSet(dir string, n int) (*set, error) {
	comments, err := readComments(dir, n)
	if err != nil {
		return nil, err
	}
	if len(comments) < n {
		return nil, fmt.Errorf("%s contains %d comments; want %d", dir, len(comments), n)
	}
	// The comments are shuffled, because otherwise all queries would be comments of the same
	// package.
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { comments[i], comments[j] = comments[j], comments[i] })
	entries := make([]index.Entry, n)
	for i, vector := range lexical.Vectors(comments) {
		entries[i] = index.Entry{Text: comments[i], Vector: vector}
	}
	return newSet("100,000 comments", entries), nil
}

// errStop stops the walk over the source files when enough comments have been found.
var errStop = errors.New("enough comments")

// readComments returns comments in the Go files of a folder, until it has found n comments.
// readComments skips duplicates and comments of fewer than three words.
func readComments(dir string, n int) (found []string, err error) {
	known, files := map[string]bool{}, token.NewFileSet()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // skip invalid Go files, which the parser's tests contain
		}
		for _, group := range file.Comments {
			text := strings.TrimSpace(group.Text())
			if known[text] || len(strings.Fields(text)) < 3 || strings.HasPrefix(text, "Copyright") {
				continue
			}
			known[text], found = true, append(found, text)
			if len(found) == n {
				return errStop
			}
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// randomSet returns a set of random vectors.
func randomSet(n int) *set {
	random := rand.New(rand.NewPCG(1, 2))
	entries := make([]index.Entry, n)
	for i := range entries {
		entries[i].Vector = around(random, make([]float32, dimension), 1)
	}
	return newSet("100,000 random vectors", entries)
}

// clusteredSet returns a set whose vectors are in 1,000 clusters.
func clusteredSet(n int) *set {
	random := rand.New(rand.NewPCG(1, 3))
	centers := make([][]float32, 1000)
	for i := range centers {
		centers[i] = around(random, make([]float32, dimension), 1)
	}
	entries := make([]index.Entry, n)
	for i := range entries {
		entries[i].Vector = around(random, centers[random.IntN(len(centers))], 0.03)
	}
	return newSet("100,000 clustered vectors", entries)
}

// around returns a random vector of length 1 that is near a given center.
func around(random *rand.Rand, center []float32, deviation float64) []float32 {
	v, sum := make([]float32, len(center)), 0.0
	for i, c := range center {
		v[i] = c + float32(random.NormFloat64()*deviation)
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// store stores all entries.
func (s *set) store(b storage.Backend) error {
	const batch = 1000
	for start := 0; start < len(s.entries); start += batch {
		if err := s.write(b, start, min(batch, len(s.entries)-start)); err != nil {
			return err
		}
	}
	return nil
}

// write writes n entries, beginning with the entry at the index "start", in one transaction.
func (s *set) write(b storage.Backend, start, n int) error {
	var keys []storage.Key
	for _, e := range s.entries[start : start+n] {
		keys = append(keys, e.Key)
	}
	return b.Update(context.Background(), storage.Keys(keys...), func(now []storage.Record) (writes []storage.Write, err error) {
		for i, e := range s.entries[start : start+n] {
			content, err := encode(&e)
			if err != nil {
				return nil, err
			}
			at := time.Now().UTC().Truncate(time.Microsecond)
			writes = append(writes, storage.Write{Record: storage.Record{
				Key: e.Key, Content: content, Revision: now[i].Revision + 1, Generation: "g", Created: at, Updated: at,
			}})
		}
		return writes, nil
	})
}

// content is the part of an entry that is stored as JSON. The vector follows it.
type content struct {
	Content  string         `json:"content"`
	Metadata map[string]any `json:"metadata"`
}

func encode(e *index.Entry) ([]byte, error) {
	text, err := json.Marshal(content{e.Text, e.Metadata})
	if err != nil {
		return nil, err
	}
	data := append(binary.AppendUvarint(nil, uint64(len(text))), text...)
	for _, x := range e.Vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data, nil
}

func decode(r storage.Record) (index.Entry, error) {
	size, n := binary.Uvarint(r.Content)
	if n <= 0 || uint64(len(r.Content)-n) < size {
		return index.Entry{}, errors.New("malformed entry")
	}
	var c content
	if err := json.Unmarshal(r.Content[n:n+int(size)], &c); err != nil {
		return index.Entry{}, err
	}
	data := r.Content[n+int(size):]
	vector := make([]float32, len(data)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return index.Entry{Key: r.Key, Revision: r.Revision, Text: c.Content, Vector: vector, Metadata: c.Metadata}, nil
}
