package metering_test

import (
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// Each day begins and ends in UTC. The usage of a day is recorded separately for each tenant and
// app. The retention begins at the end of the day. The usage is kept until the retention has
// passed.
func TestMeter(t *testing.T) {
	backend := mem.New()
	meter := func(app partition.App, retention time.Duration) *metering.Meter {
		return metering.New(records.New(records.Config{App: app, Backend: backend}), retention)
	}
	shop := meter("shop", 48*time.Hour)
	day := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	west := time.FixedZone("west", -3*60*60)
	for _, add := range []struct {
		meter  *metering.Meter
		tenant string
		at     time.Time
		runs   int64
	}{
		{shop, "acme", day.Add(-time.Second), 1},
		{shop, "acme", day.In(west), 2}, // in local time, this is the previous day
		{shop, "acme", day.Add(23 * time.Hour), 4},
		{shop, "acme", day.Add(24 * time.Hour), 8},
		{shop, "rival", day, 16},
		{meter("blog", time.Hour), "acme", day, 32},
		{meter("wiki", 0), "acme", day, 64}, // disabled
	} {
		if err := add.meter.Add(t.Context(), add.tenant, add.at, metering.Counts{Runs: add.runs, CPUMS: 0.0004}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		since, until time.Time
		want         int64
	}{
		{want: 15},
		{since: day, want: 14},
		{until: day, want: 1},
		{since: day, until: day.Add(24 * time.Hour), want: 6},
	} {
		if got, err := shop.Usage(t.Context(), "acme", tt.since, tt.until); err != nil || got.Runs != tt.want {
			t.Errorf("Usage from %v until %v = %+v, %v; want %d runs", tt.since, tt.until, got, err, tt.want)
		}
	}
	got, err := shop.Usage(t.Context(), "acme", time.Time{}, time.Time{})
	if err != nil || got.CPUMS != 0.002 {
		t.Errorf("CPUMS = %v, %v; want it rounded to microseconds", got.CPUMS, err)
	}
	var listed []metering.Usage
	for after := ""; ; {
		page, next, err := metering.List(t.Context(), backend, metering.Query{After: after, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, page...)
		if after = next; next == "" {
			break
		}
	}
	if len(listed) != 3 || listed[0].App != "blog" || listed[0].Runs != 32 || listed[1].Runs != 15 || listed[2].Tenant != "rival" {
		t.Errorf("List = %+v; want blog and shop of acme, and shop of rival", listed)
	}
}
