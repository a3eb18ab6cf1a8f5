package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// testRegistry is a registry with a manual clock.
type testRegistry struct {
	*registry
	at time.Time
	n  int
}

func newTestRegistry(bytes int64) *testRegistry {
	c := &testRegistry{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.registry = newRegistry(func() time.Time { return c.at })
	c.registry.bytes = bytes
	return c
}

// ran records a completed run of a principal with an output of the given size. ran returns the run
// id.
func (c *testRegistry) ran(p auth.Principal, bytes int) string {
	c.n++
	id := fmt.Sprintf("run_%04d", c.n)
	c.enter(id, host.RunQueued, func() *trackedRun {
		return &trackedRun{Run: apitypes.Run{User: p.User, Session: p.Session}, app: "shop", owner: ownerOf(p)}
	})
	output, _ := json.Marshal(strings.Repeat("x", bytes))
	c.end(id, &report.Result{RunID: id, Output: output})
	return id
}

func (c *testRegistry) has(p auth.Principal, id string) bool {
	_, err := c.find(p, "shop", id)
	return err == nil
}

func userOf(tenant, user string) auth.Principal {
	return auth.Principal{Role: auth.User, Tenant: tenant, User: user, Name: user}
}

// The size of kept Results is limited for each caller and each tenant. A caller that exceeds its
// limit loses its oldest Results, and all other callers keep their Results.
func TestRetentionIsFair(t *testing.T) {
	c := newTestRegistry(1 << 20)
	other, neighbour := userOf("b", "eve"), userOf("a", "bob")
	others, neighbours := c.ran(other, 1000), c.ran(neighbour, 1000)
	first := c.ran(userOf("a", "ann"), 20_000)
	for range 100 {
		c.ran(userOf("a", "ann"), 20_000)
	}
	if owner := c.tenants["a"].owners[ownerOf(userOf("a", "ann"))]; owner.bytes > c.bytes/16 || owner.ended.Len() < 2 {
		t.Errorf("a caller has %d runs of %d bytes; want at most %d bytes", owner.ended.Len(), owner.bytes, c.bytes/16)
	}
	if c.has(userOf("a", "ann"), first) {
		t.Error("the oldest run of the largest caller is kept")
	}
	for i := range 100 {
		c.ran(userOf("a", fmt.Sprint("user", i)), 20_000)
	}
	if got := c.tenants["a"].bytes; got > c.bytes/4 {
		t.Errorf("a tenant has %d bytes; want at most %d", got, c.bytes/4)
	}
	for i := range 100 {
		for j := range 3 {
			c.ran(userOf(fmt.Sprint("tenant", i), fmt.Sprint("user", j)), 20_000)
		}
	}
	if c.total > c.bytes {
		t.Errorf("%d bytes are kept; want at most %d", c.total, c.bytes)
	}
	if !c.has(other, others) || !c.has(neighbour, neighbours) {
		t.Error("a small caller lost its Result to others")
	}
	sum := int64(0)
	for _, tenant := range c.tenants {
		for _, owner := range tenant.owners {
			for e := owner.ended.Front(); e != nil; e = e.Next() {
				sum += int64(len(e.Value.(*trackedRun).result)) + entryBytes
			}
		}
	}
	if sum != c.total || c.ended.Len() != len(c.runs) {
		t.Errorf("%d bytes are counted of %d, %d runs of %d", c.total, sum, c.ended.Len(), len(c.runs))
	}
}

// If a Result exceeds the share of its caller, only the status of its run is kept.
func TestLargeResultIsNotKept(t *testing.T) {
	c := newTestRegistry(1 << 20)
	ann := userOf("a", "ann")
	found, err := c.find(ann, "shop", c.ran(ann, 1<<20))
	if err != nil || found.Status != statusDone || found.Result != nil {
		t.Errorf("find = %+v, %v; want a run without its Result", found, err)
	}
}

// The registry removes runs that ended long ago, and subtracts them from all counts.
func TestResultsExpire(t *testing.T) {
	c := newTestRegistry(1 << 20)
	ann := userOf("a", "ann")
	id := c.ran(ann, 10)
	c.at = c.at.Add(resultRetention - time.Second)
	if !c.has(ann, id) {
		t.Error("a run is removed too early")
	}
	c.at = c.at.Add(time.Second)
	if c.has(ann, id) || c.total != 0 || len(c.tenants) != 0 || len(c.runs) != 0 {
		t.Errorf("an expired run is found, or %d bytes of %d tenants remain", c.total, len(c.tenants))
	}
}

// Runs are visible to their owners and to operators.
func TestVisibleTo(t *testing.T) {
	c := newTestRegistry(1 << 20)
	claimed := userOf("a", "ann")
	claimed.Session = "s1"
	key := auth.Principal{Role: auth.Runtime, Tenant: "a", Name: "backend"}
	byAnn, byKey := c.ran(userOf("a", "ann"), 1), c.ran(key, 1)
	for _, tt := range []struct {
		name     string
		who      auth.Principal
		ann, key bool
	}{
		{"the same user", userOf("a", "ann"), true, false},
		{"the same user, in another session", claimed, false, false},
		{"another user", userOf("a", "bob"), false, false},
		{"a user with the same id in another tenant", userOf("b", "ann"), false, false},
		{"the key", key, false, true},
		{"another key", auth.Principal{Role: auth.Runtime, Tenant: "a", Name: "other"}, false, false},
		{"an operator", auth.Principal{Role: auth.Operator, Tenant: "a", Name: "op"}, true, true},
		{"an operator of another tenant", auth.Principal{Role: auth.Operator, Tenant: "b", Name: "op"}, false, false},
	} {
		if c.has(tt.who, byAnn) != tt.ann || c.has(tt.who, byKey) != tt.key {
			t.Errorf("%s finds ann's run: %v, the key's: %v", tt.name, c.has(tt.who, byAnn), c.has(tt.who, byKey))
		}
	}
	if _, err := c.find(userOf("a", "ann"), "another", byAnn); !errors.Is(err, abi.NotFound) {
		t.Errorf("a run of another app: %v", err)
	}
}

// The runs of an erased user are removed. Runs in progress are removed when they end.
func TestForget(t *testing.T) {
	c := newTestRegistry(1 << 20)
	ann, bob := userOf("a", "ann"), userOf("a", "bob")
	ended, bobs := c.ran(ann, 1), c.ran(bob, 1)
	c.enter("under way", host.RunRunning, func() *trackedRun {
		return &trackedRun{Run: apitypes.Run{User: "ann"}, app: "shop", owner: ownerOf(ann)}
	})
	c.forget("a", "ann")
	c.end("under way", &report.Result{})
	if c.has(ann, ended) || c.has(ann, "under way") || !c.has(bob, bobs) || len(c.runs) != 1 {
		t.Errorf("%d runs are kept; want that of bob", len(c.runs))
	}
}
