package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// declaredStore is the stored form of a declaration.
type declaredStore struct {
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Kind        declare.Kind    `json:"kind,omitempty"`
	Access      declare.Scope   `json:"access"`
	Retention   string          `json:"retention,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
	Resource    bool            `json:"resource,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	// Only collections have the remaining fields.
	Embedding string            `json:"embedding,omitempty"`
	Erase     declare.EraseRule `json:"erase,omitempty"`
	Language  string            `json:"language,omitempty"`
	Exposed   bool              `json:"exposed,omitempty"`
}

func declaredKey(tenant, app string) storage.Key {
	return partition.App(app).System(partition.Declared, partition.Caller{Tenant: tenant})
}

// Declared returns the stores of an app that a tenant declared at run time, sorted by name. Before
// the caller opens the app, the caller adds these stores to the stores of the app file.
func Declared(ctx context.Context, backend storage.Backend, tenant, app string) ([]declare.Store, error) {
	records, err := backend.Get(ctx, declaredKey(tenant, app))
	if err != nil {
		return nil, fmt.Errorf("read declared stores: %w", err)
	}
	kept, err := decodeDeclared(records[0])
	if err != nil {
		return nil, err
	}
	var stores []declare.Store
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		d := kept[name]
		retention, err := keptRetention(d.Retention)
		if err != nil {
			return nil, fmt.Errorf("declared stores: %w: %w", storage.ErrCorrupt, err)
		}
		stores = append(stores, declare.Store{
			Name: name, Title: d.Title, Description: d.Description, Kind: d.Kind, Access: d.Access, Retention: retention,
			Strict: d.Strict, Resource: d.Resource, Schema: d.Schema,
			Collection: declare.Collection{Embedding: d.Embedding, Erase: d.Erase, Language: d.Language, Exposed: d.Exposed},
		})
	}
	return stores, nil
}

func keptRetention(text string) (declare.Retention, error) {
	if text == "" {
		return declare.Retention{}, nil
	}
	return declare.ParseRetention(text)
}

func decodeDeclared(r storage.Record) (map[string]declaredStore, error) {
	kept := map[string]declaredStore{}
	if !r.Exists() {
		return kept, nil
	}
	if err := json.Unmarshal(r.Content, &kept); err != nil {
		return nil, fmt.Errorf("declared stores: %w: %w", storage.ErrCorrupt, err)
	}
	return kept, nil
}

// SaveDeclared stores the declarations of stores that were declared at run time. If SaveDeclared
// fails, it stores no declaration. SaveDeclared does not check the declarations, because New or
// Service.Declare has checked them.
func SaveDeclared(ctx context.Context, backend storage.Backend, tenant, app string, stores ...declare.Store) error {
	key := declaredKey(tenant, app)
	db := records.New(records.Config{App: partition.App(app), Backend: backend})
	err := records.Swap(ctx, backend, key, func(now storage.Record) ([]storage.Write, error) {
		kept, err := decodeDeclared(now)
		if err != nil {
			return nil, err
		}
		for _, st := range stores {
			kept[st.Name] = declaredStore{
				Title: st.Title, Description: st.Description, Kind: st.Kind, Access: st.Access, Retention: st.Retention.String(),
				Strict: st.Strict, Resource: st.Resource, Schema: st.Schema,
				Embedding: st.Collection.Embedding, Erase: st.Collection.Erase, Language: st.Collection.Language, Exposed: st.Collection.Exposed,
			}
		}
		return db.Write(nil, now, key, kept, time.Time{}, partition.Caller{})
	})
	if err != nil {
		return fmt.Errorf("write declared stores: %w", err)
	}
	return nil
}
