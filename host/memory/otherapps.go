package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// OtherApp is another app with records in the same database and the same tenant.
type OtherApp struct {
	App string `json:"app"`
	// Records is the number of records in the stores of the app, but at most 1,000. This number
	// includes expired records that have not been removed yet. If the stores contain more than
	// 1,000 records, More is true.
	Records int  `json:"records"`
	More    bool `json:"more,omitempty"`
}

// Limits of OtherApps.
const (
	maxOtherApps    = 20
	maxOtherRecords = 1000
)

// OtherApps returns other apps that have records in a tenant. The result contains at most 20 apps,
// sorted by id. If the id of an app has changed, the records under the old id belong to another app
// in this list.
func (s *Service) OtherApps(ctx context.Context, tenant string) ([]OtherApp, error) {
	prefix := storage.MakeKey(
		storage.Part{Tag: storage.System, Value: partition.Catalogue}, storage.Part{Tag: storage.Tenant, Value: tenant})
	var others []OtherApp
	err := s.records.Scan(ctx, prefix, func(chunk []storage.Record) error {
		for _, r := range chunk {
			id := partition.App(r.Key.Part(storage.App))
			if id == s.app || len(others) >= maxOtherApps {
				continue
			}
			other, err := countRecords(ctx, s.backend, id, tenant)
			if err != nil {
				return err
			}
			if other.Records > 0 {
				others = append(others, other)
			}
		}
		return nil
	})
	return others, s.records.Fault("look for other apps", err)
}

// countRecords counts the records of an app in a tenant. The count ends at maxOtherRecords.
func countRecords(ctx context.Context, backend storage.Backend, app partition.App, tenant string) (OtherApp, error) {
	found := OtherApp{App: string(app)}
	after, prefix := storage.Key(""), app.Group(partition.Caller{Tenant: tenant})
	for {
		chunk, err := backend.Scan(ctx, prefix, after, records.Chunk)
		if err != nil {
			return found, err
		}
		found.Records += len(chunk)
		if len(chunk) < records.Chunk {
			return found, nil
		}
		if found.Records >= maxOtherRecords {
			found.More = true
			return found, nil
		}
		after = chunk[len(chunk)-1].Key
	}
}
