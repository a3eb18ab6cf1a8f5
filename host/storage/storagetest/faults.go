package storagetest

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// testFaults executes a short sequence of updates and makes each update fail in each possible way.
// testFaults checks that the stored records match the returned errors. Every update must be applied
// either completely or not at all.
func testFaults(t *testing.T, b storage.Backend) {
	const steps = 8
	for _, how := range Failures {
		for failing := 1; failing <= steps; failing++ {
			name := how.String() + strconv.Itoa(failing)
			t.Run(name, func(t *testing.T) {
				f := NewFaulty(b)
				f.Fail(OpUpdate, failing, how)
				runFaulty(t, f, name, how, failing, steps)
			})
		}
	}
}

// runFaulty increments two records in each update. runFaulty compares the values of the records
// with the number of updates that took effect.
func runFaulty(t *testing.T, f *Faulty, group string, how Failure, failing, steps int) {
	ctx := context.Background()
	pair := []storage.Key{app(group, store("left")), app(group, store("right"))}
	applied := 0
	for i := 1; i <= steps; i++ {
		err := f.Update(ctx, storage.Keys(pair...), func(now []storage.Record) ([]storage.Write, error) {
			content := strconv.Itoa(number(now[0]) + 1)
			return []storage.Write{
				{Record: record(pair[0], now[0].Revision+1, content)}, {Record: record(pair[1], now[1].Revision+1, content)},
			}, nil
		})
		dead := (how == Dies || how == DiesAfter) && i >= failing
		if wantErr := i == failing || dead; (err != nil) != wantErr || wantErr && !errors.Is(err, ErrInjected) {
			t.Fatalf("update %d = %v; want an error: %v", i, err, wantErr)
		}
		unknown := i == failing && how != NotApplied && how != Dies
		if errors.Is(err, storage.ErrUnknownOutcome) != unknown {
			t.Errorf("update %d = %v; unknown outcome: want %v", i, err, unknown)
		}
		if err == nil || i == failing && (how == LostReply || how == DiesAfter) {
			applied++
		}
	}
	if _, err := f.Get(ctx, pair...); (err != nil) != (how == Dies || how == DiesAfter) {
		t.Errorf("Get after the last update = %v; want no error", err)
	}
	f.Revive()
	found := get(t, f, pair...)
	if number(found[0]) != applied || number(found[1]) != applied || int(found[0].Revision) != applied {
		t.Errorf("the records contain %s and %s; want %d", found[0].Content, found[1].Content, applied)
	}
	checkUsage(t, f, app(group))
}
