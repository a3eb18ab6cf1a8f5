package collection_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/search/index"
)

// The index and the run can have different versions of an entry. The index then proposes the entry
// because of its own version. The search must nevertheless find the entry, because both versions
// match the query.
func TestRecallOfReplacedEntries(t *testing.T) {
	for name, fill := range map[string]int{"without an index": 0, "with an index": 300} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			for i := range fill {
				f.want(ann, abi.Remember, fmt.Sprintf(`"notes", "coffee %d"`, i), `{"success":true`)
			}
			f.want(ann, abi.Remember, `"notes", "first tea", {"id": "1"}`, `{"success":true`)
			if _, err := f.run(ann, memory.Tx{}, func(call func(op, args string) string) {
				if got := f.ids(call(abi.Recall, `"notes", "tea", {"limit": 1}`)); got != "1" {
					t.Errorf("recall found %q; want the entry 1", got)
				}
				f.want(ann, abi.Remember, `"notes", "second tea", {"id": "1"}`, `{"success":true`)
				var found struct {
					Results []struct{ ID, Content string }
				}
				reply := call(abi.Recall, `"notes", "tea", {"limit": 1}`)
				if err := json.Unmarshal([]byte(reply), &found); err != nil || len(found.Results) != 1 || found.Results[0].Content != "first tea" {
					t.Errorf("after another run has replaced the entry, recall = %s; want the version that the run has seen", reply)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// If the retention is shortened, some entries expire. Expired entries must not prevent a search
// from finding other entries.
func TestRecallBehindEndedEntries(t *testing.T) {
	for name, ended := range map[string]int{"without an index": 100, "with an index": 1000} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			for i := range ended {
				f.want(ann, abi.Remember, fmt.Sprintf(`"notes", "tea", {"id": "ended %d"}`, i), `{"success":true`)
			}
			f.now = f.now.Add(time.Hour)
			f.want(ann, abi.Remember, `"notes", "some tea and many other words that make it a worse result", {"id": "live"}`, `{"success":true`)
			f.reopen(func(c *memory.Config) { c.Stores[2].Retention.For = 10 * time.Minute })
			if got := f.recall(ann, `"notes", "tea", {"limit": 2}`); got != "live" {
				t.Errorf("recall found %q; want the only entry that has not ended", got)
			}
		})
	}
}

// If a session has ended, its entries can remain until the next sweep. Entries of ended sessions
// must not prevent a search from finding other entries.
func TestRecallBehindEntriesOfIdleSession(t *testing.T) {
	f := openWith(t, func(c *memory.Config) {
		c.Stores = append(c.Stores, declare.Store{Name: "visit", Kind: declare.KindCollection, Access: declare.ScopeUser, Retention: declare.Retention{Session: true}})
	})
	in := func(session string) partition.Caller {
		return partition.Caller{Tenant: "acme", User: "ann", Session: session, Run: "run_1"}
	}
	for i := range 600 {
		f.want(in("s1"), abi.Remember, fmt.Sprintf(`"visit", "tea", {"id": "%d"}`, i), `{"success":true`)
	}
	f.now = f.now.Add(48 * time.Hour)
	f.want(in("s2"), abi.Remember, `"visit", "some tea and many other words", {"id": "live"}`, `{"success":true`)
	if got := f.recall(in("s2"), `"visit", "tea", {"limit": 2}`); got != "live" {
		t.Errorf("recall found %q; want the entry of the session that has not ended", got)
	}
}

// Services of different versions of an app can share an index. Each search uses the retention that
// its own Service declares.
func TestRecallWithOtherRetention(t *testing.T) {
	f := open(t)
	shared := index.New(f.backend, index.Options{})
	f.reopen(func(c *memory.Config) { c.Index = shared })
	for i := range 300 {
		f.want(ann, abi.Remember, fmt.Sprintf(`"notes", "tea", {"id": "%d"}`, i), `{"success":true`)
	}
	f.now = f.now.Add(time.Hour)
	for _, tt := range []struct {
		retention time.Duration
		want      string
	}{{10 * time.Minute, ""}, {0, "0"}, {2 * time.Hour, "0"}, {time.Minute, ""}} {
		f.reopen(func(c *memory.Config) { c.Index, c.Stores[2].Retention.For = shared, tt.retention })
		if got := f.recall(ann, `"notes", "tea", {"limit": 1}`); got != tt.want {
			t.Errorf("with a retention of %s, recall found %q; want %q", tt.retention, got, tt.want)
		}
	}
}
