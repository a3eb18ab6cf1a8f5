package index_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func ExampleSet_Search() {
	backend := mem.New()
	defer backend.Close()
	notes := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "notes"})
	for id, text := range map[string]string{"1": "The rent is due in May", "2": "Ann prefers tea"} {
		key := notes.With(storage.Part{Tag: storage.Item, Value: id})
		_ = backend.Update(context.Background(), storage.Keys(key), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: key, Revision: 1, Content: []byte(text)}}}, nil
		})
	}
	set := index.New(backend, index.Options{})
	defer set.Close()
	decode := func(r storage.Record) (index.Entry, error) {
		return index.Entry{Key: r.Key, Revision: r.Revision, Text: string(r.Content)}, nil
	}
	hits, err := set.Search(context.Background(), notes, decode, index.Query{Text: "When are rents due?", Mode: index.Text, Limit: 10})
	if err != nil {
		panic(err)
	}
	for _, h := range hits {
		fmt.Println(h.Key.Part(storage.Item), h.Score)
	}
	// Output: 1 0.8534
}
