package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// OtherApp is an app that has records in a tenant of the database.
type OtherApp struct {
	App string `json:"app"`
	// Records counts the records of its stores, expired ones until they are swept, up to 1,000; More reports that there are
	// others.
	Records int  `json:"records"`
	More    bool `json:"more,omitempty"`
}

// The bounds of OtherApps.
const (
	maxOtherApps    = 20
	maxOtherRecords = 1000
)

// OtherApps returns the apps besides this one that have records in a tenant, the first 20 in the order of their ids. An
// app whose id was changed has left its records to the old one.
func (s *Service) OtherApps(ctx context.Context, tenant string) ([]OtherApp, error) {
	prefix := storage.MakeKey(
		storage.Part{Tag: storage.System, Value: systemCatalogue}, storage.Part{Tag: storage.Tenant, Value: tenant})
	var others []OtherApp
	err := s.scan(ctx, prefix, func(chunk []storage.Record) error {
		for _, r := range chunk {
			id := r.Key.Part(storage.App)
			if id == s.app || len(others) >= maxOtherApps {
				continue
			}
			other, err := (&Service{app: id, backend: s.backend}).records(ctx, tenant)
			if err != nil {
				return err
			}
			if other.Records > 0 {
				others = append(others, other)
			}
		}
		return nil
	})
	return others, s.hostFault("look for other apps", err)
}

// records counts the records of the app in a tenant.
func (s *Service) records(ctx context.Context, tenant string) (OtherApp, error) {
	found := OtherApp{App: s.app}
	after, prefix := storage.Key(""), s.group(Caller{Tenant: tenant})
	for {
		chunk, err := s.backend.Scan(ctx, prefix, after, dropChunk)
		if err != nil {
			return found, err
		}
		found.Records += len(chunk)
		if len(chunk) < dropChunk {
			return found, nil
		}
		if found.Records >= maxOtherRecords {
			found.More = true
			return found, nil
		}
		after = chunk[len(chunk)-1].Key
	}
}
