package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Metered is the usage of the runs of an app in a tenant over some time.
type Metered struct {
	// Runs counts runs whose tool was executed, Failed those of them that ended with a fault.
	Runs   int64 `json:"runs"`
	Failed int64 `json:"failed"`
	// Repeated counts answers with an earlier run's Result, Refused and NotStarted runs that no tool was executed for.
	Repeated   int64 `json:"repeated"`
	Refused    int64 `json:"refused"`
	NotStarted int64 `json:"not_started"`
	// CPUMS is the processor time of tools in milliseconds, all attempts included.
	CPUMS float64 `json:"cpu_ms"`
}

// Plus returns the sum of both.
func (m Metered) Plus(other Metered) Metered {
	return Metered{
		Runs: m.Runs + other.Runs, Failed: m.Failed + other.Failed, Repeated: m.Repeated + other.Repeated,
		Refused: m.Refused + other.Refused, NotStarted: m.NotStarted + other.NotStarted, CPUMS: m.CPUMS + other.CPUMS,
	}
}

// dayFormat is how days are written, in UTC.
const dayFormat = time.DateOnly

// meteringKey is where the usage of a day lies, "" for all days.
func (s *Service) meteringKey(tenant, day string) storage.Key {
	return s.system(systemMetering, Caller{Tenant: tenant}, storage.Part{Tag: storage.Item, Value: day})
}

// Meter adds to the usage of a tenant on the day of a time. It does nothing for a Service that keeps none.
func (s *Service) Meter(ctx context.Context, tenant string, at time.Time, used Metered) error {
	if !s.Meters() {
		return nil
	}
	at = at.UTC()
	key := s.meteringKey(tenant, at.Format(dayFormat))
	err := swapOne(ctx, s.backend, key, func(now storage.Record) ([]storage.Write, error) {
		sum, err := decodeMetered(now)
		if err != nil {
			return nil, err
		}
		return s.writeSystem(nil, now, key, sum.Plus(used), at.Truncate(24*time.Hour).Add(24*time.Hour+s.meteringRetention), Caller{})
	})
	if err != nil {
		return fmt.Errorf("keep the usage: %w", err)
	}
	return nil
}

// Meters reports whether the usage of runs is kept.
func (s *Service) Meters() bool { return s.meteringRetention > 0 }

// Usage returns what the app uses in a tenant; see [Usage].
func (s *Service) Usage(ctx context.Context, tenant string, since, until time.Time) (AppUsage, error) {
	usage, err := usageOf(ctx, s.backend, usagePlace{tenant, s.app}, UsageQuery{Since: since, Until: until})
	return usage, s.hostFault("read the usage", err)
}

func decodeMetered(r storage.Record) (m Metered, err error) {
	if !r.Exists() {
		return m, nil
	}
	if err := json.Unmarshal(r.Content, &m); err != nil {
		return m, fmt.Errorf("usage of a day: %w: %w", storage.ErrCorrupt, err)
	}
	return m, nil
}

// UsageQuery says which usage is looked for.
type UsageQuery struct {
	// Tenant is the tenant; "" for all of the backend.
	Tenant string
	// Apps are the ids of the apps. Default: all.
	Apps []string
	// Since and Until bound the days, in UTC: from that of Since on, before that of Until. Zero means no bound.
	Since, Until time.Time
	// After is the Next of the page before.
	After string
	// Limit is how many apps are returned at most, at least 1.
	Limit int
}

// AppUsage is the usage of an app in a tenant.
type AppUsage struct {
	Tenant string `json:"tenant"`
	App    string `json:"app"`
	// StoredBytes and StoredRecords are what is stored now, as the quota counts it.
	StoredBytes   int64 `json:"stored_bytes"`
	StoredRecords int64 `json:"stored_records"`
	// The rest is the sum of the days that were asked for; see Metered.
	Runs       int64   `json:"runs"`
	Failed     int64   `json:"failed"`
	Repeated   int64   `json:"repeated"`
	Refused    int64   `json:"refused"`
	NotStarted int64   `json:"not_started"`
	CPUMS      float64 `json:"cpu_ms"`
}

// Usage returns a page of what apps use, in the order of tenants and apps. Next is the After of the page that follows,
// "" if there is none. An app in a tenant is listed if it has runs that were metered, sessions, or stores.
func Usage(ctx context.Context, backend storage.Backend, q UsageQuery) (found []AppUsage, next string, err error) {
	if q.Limit < 1 {
		return nil, "", abi.Faultf(abi.InvalidArgument, "a list needs a limit of at least 1")
	}
	found = []AppUsage{}
	at, err := parseUsagePlace(q.After)
	if err != nil {
		return nil, "", err
	}
	for {
		var ok bool
		if at, ok, err = nextUsed(ctx, backend, q.Tenant, at); err != nil || !ok {
			return found, "", err
		}
		if len(q.Apps) > 0 && !slices.Contains(q.Apps, at.app) {
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

// usagePlace is an app in a tenant.
type usagePlace struct{ tenant, app string }

func (p usagePlace) parts() []storage.Part {
	return []storage.Part{{Tag: storage.Tenant, Value: p.tenant}, {Tag: storage.App, Value: p.app}}
}

// String writes the place for a query. Ids of apps have no slash.
func (p usagePlace) String() string { return p.tenant + "/" + p.app }

func parseUsagePlace(text string) (usagePlace, error) {
	at := strings.LastIndexByte(text, '/')
	if text == "" {
		return usagePlace{}, nil
	}
	if at < 0 {
		return usagePlace{}, abi.Faultf(abi.InvalidArgument, "after is not the next of a page of usage")
	}
	return usagePlace{text[:at], text[at+1:]}, nil
}

// usedKinds are the kinds of the host's own records that show that a tenant uses an app.
var usedKinds = []string{systemCatalogue, systemMetering, systemSession}

// nextUsed returns the first app that comes after a place in the order of keys, of one tenant or, for "", of all.
func nextUsed(ctx context.Context, backend storage.Backend, tenant string, after usagePlace) (next usagePlace, ok bool, err error) {
	var least storage.Key
	for _, kind := range usedKinds {
		all := storage.MakeKey(storage.Part{Tag: storage.System, Value: kind})
		prefix, from := all.With(storage.Part{Tag: storage.Tenant, Value: tenant}), storage.Key("")
		if after != (usagePlace{}) {
			from = all.With(after.parts()...) + "\xff" // behind all records of it
		}
		heads, err := backend.Heads(ctx, prefix, from, 1)
		if err != nil {
			return next, false, err
		}
		if len(heads) == 0 {
			continue
		}
		place := usagePlace{heads[0].Key.Tenant(), heads[0].Key.Part(storage.App)}
		if key := storage.MakeKey(place.parts()...); !ok || key < least {
			next, least, ok = place, key, true
		}
	}
	return next, ok, nil
}

func usageOf(ctx context.Context, backend storage.Backend, at usagePlace, q UsageQuery) (AppUsage, error) {
	usage := AppUsage{Tenant: at.tenant, App: at.app}
	s := &Service{app: at.app, backend: backend}
	records, err := backend.Get(ctx, storage.UsageKey(s.group(Caller{Tenant: at.tenant})))
	if err != nil {
		return usage, err
	}
	stored, err := storage.DecodeUsage(records[0])
	if err != nil {
		return usage, err
	}
	usage.StoredBytes, usage.StoredRecords = stored.Bytes, stored.Records
	used, since, until := Metered{}, day(q.Since), day(q.Until)
	err = s.scan(ctx, s.meteringKey(at.tenant, ""), func(chunk []storage.Record) error {
		for _, r := range chunk {
			if day := r.Key.Part(storage.Item); day < since || until != "" && day >= until {
				continue
			}
			ofDay, err := decodeMetered(r)
			if err != nil {
				return err
			}
			used = used.Plus(ofDay)
		}
		return nil
	})
	usage.Runs, usage.Failed, usage.Repeated, usage.Refused = used.Runs, used.Failed, used.Repeated, used.Refused
	usage.NotStarted, usage.CPUMS = used.NotStarted, math.Round(used.CPUMS*1000)/1000
	return usage, err
}

// day writes the day of a time, "" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(dayFormat)
}
