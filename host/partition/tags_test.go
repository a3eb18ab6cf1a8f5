package partition_test

import (
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// An erasure uses tags to find the records of a user. Therefore, for each kind of key, the record
// must have the correct data subject.
func TestTags(t *testing.T) {
	const app = partition.App("shop")
	ann := partition.Caller{Tenant: "acme", User: "ann", Session: "s1", Run: "r"}
	visitor := partition.Caller{Tenant: "acme", Session: "s1", Run: "r"}
	anonymousOutsideSession := partition.Caller{Tenant: "acme", Run: "r"}
	item := storage.Part{Tag: storage.Item, Value: "f1"}
	store := app.Group(ann).With(storage.Part{Tag: storage.Store, Value: "notes"})
	users := store.With(storage.Part{Tag: storage.User, Value: "bob"})
	sessions := store.With(storage.Part{Tag: storage.Session, Value: "s1"})
	anonymous := storage.SubjectTag(partition.AnonymousSubject("s1"))
	for _, tt := range []struct {
		name   string
		key    storage.Key
		writer partition.Caller
		ends   partition.Lifetime
		want   []string
	}{
		{"the user in the key, for any writer", users, ann, partition.Lifetime{}, []string{"user/bob"}},
		{"a session's record is its user's", sessions, ann, partition.Lifetime{Session: "s1"}, []string{"user/ann", "session/s1"}},
		{"an anonymous session is a subject", sessions, visitor, partition.Lifetime{Session: "s1"}, []string{anonymous, "session/s1"}},
		{"a record of the app has no subject", store, ann, partition.Lifetime{}, nil},
		{"a record of the app that ends with a session", store, ann, partition.Lifetime{Session: "s1"}, []string{"session/s1"}},
		{"the session", app.Session(ann), ann, partition.Lifetime{}, []string{"user/ann"}},
		{"the Result under a key", app.Finished(ann, "k"), ann, partition.Lifetime{}, []string{"user/ann"}},
		{"a file", app.System(partition.File, ann, item), ann, partition.Lifetime{}, []string{"user/ann"}},
		{"the text of a file", app.System(partition.FileText, ann, item), visitor, partition.Lifetime{}, []string{anonymous}},
		{"the mark of an upload", app.System(partition.Upload, ann, item), ann, partition.Lifetime{}, []string{"user/ann"}},
		{"a request for approval", app.System(partition.Approval, ann, item), ann, partition.Lifetime{Session: "s1"}, []string{"user/ann", "session/s1"}},
		{"a paused run", app.System(partition.PausedRun, ann, item), visitor, partition.Lifetime{}, []string{anonymous}},
		{"a ledger entry", app.System(partition.Ledger, ann, item), ann, partition.Lifetime{}, []string{"user/ann"}},
		{"a ledger entry without a user", app.System(partition.Ledger, ann, item), anonymousOutsideSession, partition.Lifetime{}, nil},
		{"the mark of an erasure", app.Erased(ann), ann, partition.Lifetime{}, nil},
		{"the catalogue", app.System(partition.Catalogue, ann), ann, partition.Lifetime{}, nil},
		{"the usage of a day", app.System(partition.Metering, ann, item), ann, partition.Lifetime{}, nil},
	} {
		if got := partition.Tags(tt.key, tt.writer, tt.ends); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Tags = %q; want %q", tt.name, got, tt.want)
		}
	}
	if id, ok := partition.SessionOfTag(partition.SessionTag("s1")); !ok || id != "s1" {
		t.Errorf("SessionOfTag = %q, %t; want s1", id, ok)
	}
	if _, ok := partition.SessionOfTag("user/ann"); ok {
		t.Error("SessionOfTag accepts the tag of a subject")
	}
}

// If a user is erased, a mark is stored. The key of this mark must not contain the id of the user.
func TestErasedKeyHasNoID(t *testing.T) {
	const app = partition.App("shop")
	key := app.Erased(partition.Caller{Tenant: "acme", User: "ann"})
	if key.Part(storage.User) != "" || key.Part(storage.Item) == "ann" {
		t.Errorf("the key %q of the mark contains the user's id", key)
	}
	for _, other := range []storage.Key{
		app.Erased(partition.Caller{Tenant: "rival", User: "ann"}),
		app.Erased(partition.Caller{Tenant: "acme", User: "bob"}),
		partition.App("other").Erased(partition.Caller{Tenant: "acme", User: "ann"}),
	} {
		if other.Part(storage.Item) == key.Part(storage.Item) {
			t.Errorf("two users have the same digest %s; want different digests", key.Part(storage.Item))
		}
	}
}
