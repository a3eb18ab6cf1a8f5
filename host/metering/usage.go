package metering

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// A Query selects the usage of some apps.
type Query struct {
	// Tenant is the id of a tenant. If Tenant is "", all tenants of the backend are selected.
	Tenant string
	// Apps contains the ids of the apps. Default: all.
	Apps []string
	// Since is the first day, in UTC. Until is the day after the last day, in UTC. The query does
	// not select the day Until. Zero means no bound.
	Since, Until time.Time
	// After is the result "next" of the previous page. For the first page, After is "".
	After string
	// Limit is the maximum number of apps to return. Limit must be at least 1.
	Limit int
}

// Usage is the usage of an app in a tenant.
type Usage struct {
	Tenant string `json:"tenant"`
	App    string `json:"app"`
	// StoredBytes and StoredRecords are the current size and number of the stored records that
	// count toward the quota.
	StoredBytes   int64 `json:"stored_bytes"`
	StoredRecords int64 `json:"stored_records"`
	// All other fields are sums over the requested days; see Counts.
	Runs       int64   `json:"runs"`
	Failed     int64   `json:"failed"`
	Repeated   int64   `json:"repeated"`
	Refused    int64   `json:"refused"`
	NotStarted int64   `json:"not_started"`
	CPUMS      float64 `json:"cpu_ms"`
	// ModelCalls, InputTokens and OutputTokens describe the use of models.
	ModelCalls   int64 `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// Usage returns the usage of the app in a tenant. The Usage contains the current storage and the
// sums over the UTC days from the day "since" to the day before "until". Zero means no bound.
func (m *Meter) Usage(ctx context.Context, tenant string, since, until time.Time) (Usage, error) {
	usage, err := usageOf(ctx, m.db.Backend, position{tenant, m.db.App}, Query{Since: since, Until: until})
	return usage, m.db.Fault("read the usage", err)
}

// List returns a page of the usage of the apps of a backend, sorted by tenant and app. The result
// "next" is the value of Query.After for the following page. After the last page, "next" is "". The
// list contains an app in a tenant if the app has metered runs, sessions or stores there.
func List(ctx context.Context, backend storage.Backend, q Query) (found []Usage, next string, err error) {
	if q.Limit < 1 {
		return nil, "", abi.Faultf(abi.InvalidArgument, "the limit must be at least 1")
	}
	found = []Usage{}
	at, err := parsePosition(q.After)
	if err != nil {
		return nil, "", err
	}
	for {
		var ok bool
		if at, ok, err = nextUsed(ctx, backend, q.Tenant, at); err != nil || !ok {
			return found, "", err
		}
		if len(q.Apps) > 0 && !slices.Contains(q.Apps, string(at.app)) {
			continue
		}
		if len(found) == q.Limit {
			return found, next, nil
		}
		usage, err := usageOf(ctx, backend, at, q)
		if err != nil {
			return nil, "", err
		}
		found, next = append(found, usage), at.String()
	}
}

// A position identifies an app of a tenant in the usage data.
type position struct {
	tenant string
	app    partition.App
}

func (p position) parts() []storage.Part {
	return []storage.Part{{Tag: storage.Tenant, Value: p.tenant}, {Tag: storage.App, Value: string(p.app)}}
}

// String returns the position as text for Query.After. The id of an app contains no slash.
func (p position) String() string { return p.tenant + "/" + string(p.app) }

func parsePosition(text string) (position, error) {
	at := strings.LastIndexByte(text, '/')
	if text == "" {
		return position{}, nil
	}
	if at < 0 {
		return position{}, abi.Faultf(abi.InvalidArgument, "the parameter \"after\" is not a valid cursor")
	}
	return position{text[:at], partition.App(text[at+1:])}, nil
}

// usedKinds returns kinds of host records. If a tenant has such a record of an app, the tenant uses
// the app.
func usedKinds() [3]string {
	return [...]string{partition.Catalogue, partition.Metering, partition.Session}
}

// nextUsed returns the first app with usage after a position. Apps are in the order of their keys.
// If tenant is not "", nextUsed searches only the records of that tenant.
func nextUsed(ctx context.Context, backend storage.Backend, tenant string, after position) (next position, ok bool, err error) {
	var first storage.Key
	for _, kind := range usedKinds() {
		all := storage.MakeKey(storage.Part{Tag: storage.System, Value: kind})
		prefix, from := all.With(storage.Part{Tag: storage.Tenant, Value: tenant}), storage.Key("")
		if after != (position{}) {
			from = all.With(after.parts()...) + "\xff" // a position after all records of the app
		}
		heads, err := backend.Heads(ctx, prefix, from, 1)
		if err != nil {
			return next, false, err
		}
		if len(heads) == 0 {
			continue
		}
		at := position{heads[0].Key.Tenant(), partition.App(heads[0].Key.Part(storage.App))}
		if key := storage.MakeKey(at.parts()...); !ok || key < first {
			next, first, ok = at, key, true
		}
	}
	return next, ok, nil
}

func usageOf(ctx context.Context, backend storage.Backend, at position, q Query) (Usage, error) {
	usage := Usage{Tenant: at.tenant, App: string(at.app)}
	db := records.New(records.Config{App: at.app, Backend: backend})
	stored, err := backend.Usage(ctx, at.app.Group(partition.Caller{Tenant: at.tenant}))
	if err != nil {
		return usage, err
	}
	usage.StoredBytes, usage.StoredRecords = stored[0].Bytes, stored[0].Records
	used, since, until := Counts{}, day(q.Since), day(q.Until)
	err = db.Scan(ctx, keyOf(at.app, at.tenant, ""), func(chunk []storage.Record) error {
		for _, r := range chunk {
			if day := r.Key.Part(storage.Item); day < since || until != "" && day >= until {
				continue
			}
			ofDay, err := decode(r)
			if err != nil {
				return err
			}
			used = used.Plus(ofDay)
		}
		return nil
	})
	usage.Runs, usage.Failed, usage.Repeated, usage.Refused = used.Runs, used.Failed, used.Repeated, used.Refused
	usage.NotStarted, usage.CPUMS = used.NotStarted, math.Round(used.CPUMS*1000)/1000
	usage.ModelCalls, usage.InputTokens, usage.OutputTokens = used.ModelCalls, used.InputTokens, used.OutputTokens
	return usage, err
}

// day returns the day of a time. For the zero time, it returns "".
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(dayFormat)
}
