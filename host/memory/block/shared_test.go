package block_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// openShared opens an app on a backend. An argument states whether the app has shared blocks.
func openShared(t *testing.T, app string, backend storage.Backend, shared bool, change ...func(*memory.Config)) *blocks {
	t.Helper()
	return openWith(t, func(c *memory.Config) {
		c.App, c.Backend, c.Stores = app, backend, nil
		for _, d := range declared() {
			d.Shared = shared
			c.Stores = append(c.Stores, d.Store())
		}
		for _, f := range change {
			f(c)
		}
	})
}

// TestShared checks that the apps of a tenant share the blocks of users, but no other data.
func TestShared(t *testing.T) {
	backend := mem.New()
	shop, desk, single := openShared(t, "shop", backend, true), openShared(t, "desk", backend, true), openShared(t, "single", backend, false)
	shop.want(ann, abi.UpdateBlock, `"core", "from shop"`, stored)
	shop.want(annMail, abi.UpdateBlock, `"core", "shop's agent", {"agent": true}`, stored)
	desk.want(ann, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"from shop","scope":"user"`)
	desk.want(annMail, abi.GetBlock, `"core", {"agent": true}`, "null")
	desk.want(ann, abi.UpdateBlock, `"core", "from desk"`, "conflict: ")
	desk.want(ann, abi.UpdateBlock, `"core", "from desk", {"expected_updated_at": "2026-04-30T16:20:00"}`, stored)
	shop.want(ann, abi.GetBlock, `"core"`, `{"id":"core","block_type":"core","content":"from desk"`)
	single.want(ann, abi.GetBlock, `"core"`, "null")
	for _, other := range []partition.Caller{as("bob", ""), {Tenant: "other", User: "ann", Run: "r"}} {
		shop.want(other, abi.GetBlock, `"core"`, "null")
	}
	for service, want := range map[*blocks]string{shop: "core core@emails", desk: "core"} {
		if got := service.ids(ann); got != want {
			t.Errorf("the blocks are %q; want %q", got, want)
		}
	}
	if n := len(shop.records("core")); n != 2 {
		t.Errorf("shop lists %d records of core; want 2", n)
	}
}

// records returns the records of a store. records reads the store page by page.
func (b *blocks) records(name string) (all []memory.RecordInfo) {
	b.t.Helper()
	for after := ""; ; {
		found, next, err := b.List(b.t.Context(), partition.Caller{Tenant: "acme"}, name, after, 1)
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, found...)
		if after = next; after == "" {
			return all
		}
	}
}

// ids returns the ids of all blocks of a user.
func (b *blocks) ids(c partition.Caller) string {
	b.t.Helper()
	var ids []string
	_, err := b.Transact(b.t.Context(), &memory.Tx{Caller: c, Authority: memory.Operator(), ReadOnly: true}, func(ctx context.Context, v *memory.View) error {
		found, err := memory.ListBlocks(ctx, v, "all")
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(ids, " ")
}

// TestSharedErase checks an export and an erasure in one of two apps. The export must contain the
// shared blocks of the user, and the erasure must remove these blocks.
func TestSharedErase(t *testing.T) {
	backend := mem.New()
	shop, desk, single := openShared(t, "shop", backend, true), openShared(t, "desk", backend, true), openShared(t, "single", backend, false)
	for _, c := range []partition.Caller{annMail, bob} {
		shop.want(c, abi.UpdateBlock, `"core", "shared"`, stored)
		shop.want(c, abi.UpdateBlock, `"core", "agent", {"agent": true}`, stored)
		desk.want(c, abi.UpdateBlock, `"core", "agent", {"agent": true}`, stored)
		single.want(c, abi.UpdateBlock, `"core", "own"`, stored)
	}
	data, err := shop.UserData(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := data.Records(t.Context(), func(r memory.UserRecord) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("the export contains %d records, %v; want 2", n, err)
	}
	if erased, err := shop.Erase(t.Context(), ann); err != nil || erased.Stores["core"] != 2 || erased.Records != 2 {
		t.Errorf("Erase = %+v, %v; want 2 records", erased, err)
	}
	for _, test := range []struct {
		b          *blocks
		user, want string
	}{{shop, "ann", ""}, {desk, "ann", "core@emails"}, {single, "ann", "core"}, {shop, "bob", "core core@emails"}, {desk, "bob", "core core@emails"}} {
		if got := test.b.ids(as(test.user, "")); got != test.want {
			t.Errorf("then the blocks of %s are %q; want %q", test.user, got, test.want)
		}
	}
}

// TestSharedEraseMeetsRun uses two apps. TestSharedEraseMeetsRun erases a user in one app while a
// run of the other app is about to write the shared block. The run must store nothing.
func TestSharedEraseMeetsRun(t *testing.T) {
	backend := mem.New()
	shop, desk := openShared(t, "shop", backend, true), openShared(t, "desk", backend, true)
	_, err := desk.Transact(t.Context(), &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		if _, err := v.Call(ctx, abi.Call{Op: abi.UpdateBlock, Args: args(`"core"`, `"late"`)}); err != nil {
			return err
		}
		_, err := shop.Erase(t.Context(), ann)
		return err
	})
	if !errors.Is(err, abi.Cancelled) {
		t.Errorf("the run ended with %v; want cancelled", err)
	}
	shop.want(ann, abi.GetBlock, `"core"`, "null")
}

// TestSharedQuota checks that shared blocks have a separate limit.
func TestSharedQuota(t *testing.T) {
	backend := mem.New()
	small := func(c *memory.Config) { c.Limits = memory.Limits{AppRecords: 2, UserRecords: 2} }
	shop, desk := openShared(t, "shop", backend, true, small), openShared(t, "desk", backend, true, small)
	shop.want(ann, abi.UpdateBlock, `"core", "1"`, stored)
	desk.want(ann, abi.UpdateBlock, `"archival", "2"`, stored)
	shop.want(bob, abi.UpdateBlock, `"core", "3"`, "quota_exceeded: ")
	shop.want(bob, abi.UpdateBlock, `"core", "own", {"agent": true}`, stored)
	desk.want(ann, abi.DeleteBlock, `"archival", {"if_revision": 1777566000000}`, `{"success":true,"deleted":true}`)
	shop.want(bob, abi.UpdateBlock, `"core", "3"`, stored)
}

// TestSharedChanged checks a block that has records. An app must not be able to make this block
// shared, or to end its sharing.
func TestSharedChanged(t *testing.T) {
	backend := mem.New()
	declareIn := func(b *blocks) error { return b.Declare(t.Context(), "acme") }
	own := openShared(t, "shop", backend, false)
	if err := declareIn(own); err != nil {
		t.Fatal(err)
	}
	own.want(annMail, abi.UpdateBlock, `"core", "agent", {"agent": true}`, stored)
	shared := openShared(t, "shop", backend, true)
	if err := declareIn(shared); err != nil {
		t.Errorf("Declare with a block of an agent = %v; want no error", err)
	}
	shared.want(ann, abi.UpdateBlock, `"core", "x"`, stored)
	changed := &memory.ScopeChangedError{}
	if err := declareIn(openShared(t, "shop", backend, false)); !errors.As(err, &changed) || changed.Store != "core" || changed.Records != 1 {
		t.Errorf("Declare without shared = %v; want 1 record of core", err)
	}
	if n, err := shared.Purge(t.Context(), "acme", "core"); err != nil || n != 2 {
		t.Errorf("Purge = %d, %v; want 2", n, err)
	}
	if err := declareIn(openShared(t, "shop", backend, false)); err != nil {
		t.Errorf("Declare after the purge = %v", err)
	}
	own.want(ann, abi.UpdateBlock, `"core", "x"`, stored)
	if err := declareIn(openShared(t, "shop", backend, true)); !errors.As(err, &changed) || changed.Is != declare.ScopeUser+", shared" {
		t.Errorf("Declare with shared = %v; want an error", err)
	}
}
