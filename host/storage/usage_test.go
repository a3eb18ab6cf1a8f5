package storage_test

import (
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

func TestAccounts(t *testing.T) {
	part := func(tag storage.Tag, value string) storage.Part { return storage.Part{Tag: tag, Value: value} }
	tenant, app, ann := part(storage.Tenant, "acme"), part(storage.App, "shop"), part(storage.User, "ann")
	system, session, store := part(storage.System, "session"), part(storage.Session, "s1"), part(storage.Store, "cart")
	group := storage.MakeKey(tenant, app)
	annGroup := storage.MakeKey(tenant, app, ann)
	for _, test := range []struct {
		name string
		key  storage.Key
		tags []string
		want []storage.Key
	}{
		{"an app's record", storage.MakeKey(tenant, app, store), nil, []storage.Key{group}},
		{"a user's record", storage.MakeKey(tenant, app, ann, store), nil, []storage.Key{group, annGroup}},
		{"a user's record of the host", storage.MakeKey(system, tenant, app, ann, session), nil, []storage.Key{group, annGroup}},
		{"an anonymous session's record", storage.MakeKey(tenant, app, session, store), []string{"x"}, []storage.Key{group}},
		{"a record of a user's session", storage.MakeKey(tenant, app, session, store), []string{"x", storage.SubjectTag("ann")}, []storage.Key{group, annGroup}},
		{"a session", storage.MakeKey(system, tenant, app, session), []string{storage.SubjectTag("ann")}, []storage.Key{group, annGroup}},
		{"a ledger entry", storage.MakeKey(part(storage.System, storage.Ledger), tenant, app, part(storage.Item, "r1")), nil,
			[]storage.Key{storage.MakeKey(part(storage.System, storage.Ledger), tenant, app)}},
		{"a record outside of apps", storage.MakeKey(tenant), []string{storage.SubjectTag("ann")}, nil},
	} {
		if got := (storage.Record{Key: test.key, Tags: test.tags}).Accounts(); !slices.Equal(got, test.want) {
			t.Errorf("%s: Accounts of %s = %v; want %v", test.name, test.key, got, test.want)
		}
	}
	if got := storage.UserAccount(group, "ann"); got != annGroup {
		t.Errorf("UserAccount = %s; want %s", got, annGroup)
	}
}

func TestFloorKey(t *testing.T) {
	group := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"})
	store := storage.Part{Tag: storage.Store, Value: "cart"}
	shards := map[storage.Key]bool{}
	for i := range 1000 {
		k := group.With(storage.Part{Tag: storage.User, Value: string(rune('a' + i))}, store)
		floor := storage.FloorKey(k)
		if floor != storage.FloorKey(k) || !storage.IsFloor(floor) || floor.Part(storage.User) != "" {
			t.Fatalf("FloorKey(%s) = %s", k, floor)
		}
		shards[floor] = true
	}
	if len(shards) != 16 {
		t.Errorf("1,000 keys of one store have %d floors; want 16", len(shards))
	}
	system := storage.MakeKey(storage.Part{Tag: storage.System, Value: "session"}) + group
	for _, k := range []storage.Key{"", "x", group, system} {
		if got := storage.FloorKey(k); got != "" {
			t.Errorf("FloorKey(%s) = %s; want none", k, got)
		}
	}
}
