package memory_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

func (a *app) revision(c partition.Caller, store string) int64 {
	a.t.Helper()
	var reply struct{ Revision int64 }
	if err := json.Unmarshal([]byte(a.must(c, abi.GetContent, store, "", `{"record":true}`)), &reply); err != nil {
		a.t.Fatal(err)
	}
	return reply.Revision
}

// TestRevisionsNeverRepeat removes a record in every possible way and creates it again. The new
// record must have a higher revision than the removed record. If the revision did not increase, a
// stale "if_revision" could be accepted.
func TestRevisionsNeverRepeat(t *testing.T) {
	for _, test := range []struct {
		name, store string
		remove      func(a *app)
	}{
		{"deleted", `"notes"`, func(a *app) { a.must(ann, abi.DeleteContent, `"notes"`) }},
		{"expired", `"daily"`, func(a *app) { a.clock.Advance(25 * time.Hour) }},
		{"swept", `"daily"`, func(a *app) {
			a.clock.Advance(26 * time.Hour)
			if n, err := a.Sweep(context.Background(), "acme", 10); n == 0 || err != nil {
				a.t.Fatalf("Sweep = %d, %v", n, err)
			}
		}},
		{"ended with its session", `"lastSession"`, func(a *app) {
			if _, err := a.Sessions().End(context.Background(), ann); err != nil {
				a.t.Fatal(err)
			}
		}},
		{"erased", `"notes"`, func(a *app) {
			if _, err := a.Erase(context.Background(), ann); err != nil {
				a.t.Fatal(err)
			}
		}},
		{"purged", `"notes"`, func(a *app) {
			if _, err := a.Purge(context.Background(), "acme", "notes"); err != nil {
				a.t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newApp(t)
			a.must(ann, abi.SetContent, test.store, `{"balance":10}`)
			a.must(ann, abi.SetContent, test.store, `{"balance":11}`)
			before := a.revision(ann, test.store)
			test.remove(a)
			again := partition.Caller{Tenant: "acme", User: "ann", Session: "s2", Run: "r2"}
			replied := a.must(again, abi.SetContent, test.store, `{"balance":99}`, `{"if_revision":0}`)
			if got := a.revision(again, test.store); got <= before || !strings.Contains(replied, `"revision":3,`) {
				t.Errorf("the record has revision %d, and the reply was %s, after one of revision %d", got, replied, before)
			}
			for stale := range before + 1 {
				a.wantFault(abi.Conflict, again, abi.SetContent, test.store, `{"balance":5}`, string(json.RawMessage(`{"if_revision":`+string(rune('0'+stale))+`}`)))
			}
			a.want(again, test.store, `{"balance":99}`)
		})
	}
}

// Revisions also increase after a blind write, and after a run that removes a record and then
// writes the record again.
func TestRevisionsOfBlindWrites(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":2}`)
	a.must(ann, abi.DeleteContent, `"notes"`)
	done, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":3}`)
		return nil
	})
	if err != nil || done.Effects.Writes[0].Revision != 3 {
		t.Errorf("a blind write after a removal has effects %+v, %v; want revision 3", done.Effects, err)
	}
	done, err = a.transact(ann, func(ctx context.Context, v *memory.View) error {
		mustCall(t, ctx, v, abi.DeleteContent, `"notes"`)
		mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":4}`)
		return nil
	})
	if err != nil || done.Effects.Writes[0].Revision != 4 {
		t.Errorf("a removal and a write in one run have effects %+v, %v; want revision 4", done.Effects, err)
	}
}
