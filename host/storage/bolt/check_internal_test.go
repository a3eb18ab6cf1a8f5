package bolt

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

func epoch() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// TestCheck damages an intact database without the backend. Check must detect each kind of damage.
func TestCheck(t *testing.T) {
	k, other := testKey("s"), testKey("other")
	group, _ := k.Group()
	r := storage.Record{Key: k, Revision: 1, Content: []byte(`{"a":1}`), Expires: epoch(), Tags: []string{"e"}}
	encoded := storage.AppendRecord(nil, r)
	for _, test := range []struct {
		name, kind, text string
		change           func(tx *bbolt.Tx) error
	}{
		{"nothing", "", "", func(*bbolt.Tx) error { return nil }},
		{"a flipped bit", "record", "checksum", func(tx *bbolt.Tx) error {
			bad := append([]byte(nil), encoded...)
			bad[len(bad)-1] ^= 1
			return tx.Bucket(recordsBucket).Put([]byte(k), bad)
		}},
		{"a moved record", "record", "checksum", func(tx *bbolt.Tx) error {
			return tx.Bucket(recordsBucket).Put([]byte(other), encoded)
		}},
		{"a lost record", "usage", "2 records", func(tx *bbolt.Tx) error { return tx.Bucket(recordsBucket).Delete([]byte(other)) }},
		{"no expiry entry", "index", "expires but is not", func(tx *bbolt.Tx) error {
			return tx.Bucket(expiryBucket).Delete(expiryEntry(r.Expires, k))
		}},
		{"a wrong expiry entry", "index", "does not match", func(tx *bbolt.Tx) error {
			return tx.Bucket(expiryBucket).Put(expiryEntry(r.Expires.Add(time.Hour), k), nil)
		}},
		{"a malformed expiry entry", "index", "malformed", func(tx *bbolt.Tx) error {
			return tx.Bucket(expiryBucket).Put([]byte("x"), nil)
		}},
		{"no tag entry", "index", `the tag "e" is not`, func(tx *bbolt.Tx) error { return tx.Bucket(tagsBucket).Delete(tagEntry(groupOf(k), "e", k)) }},
		{"a wrong tag entry", "index", "does not match", func(tx *bbolt.Tx) error { return tx.Bucket(tagsBucket).Put(tagEntry(groupOf(k), "f", k), nil) }},
		{"a malformed tag entry", "index", "malformed", func(tx *bbolt.Tx) error { return tx.Bucket(tagsBucket).Put([]byte{200}, nil) }},
		{"a wrong usage", "usage", "the counter has 3 records and 9 bytes", func(tx *bbolt.Tx) error {
			return putUsage(tx.Bucket(usageBucket), group, storage.Usage{Records: 3, Bytes: 9})
		}},
		{"no usage", "usage", "missing from the counters", func(tx *bbolt.Tx) error { return tx.Bucket(usageBucket).Delete([]byte(group)) }},
		{"a truncated usage", "usage", "checksum", func(tx *bbolt.Tx) error {
			return tx.Bucket(usageBucket).Put([]byte(group), []byte("x"))
		}},
		{"the usage of another account", "usage", "checksum", func(tx *bbolt.Tx) error {
			return tx.Bucket(usageBucket).Put([]byte(group+"x"), encodeUsage(group, storage.Usage{Records: 2, Bytes: 9}))
		}},
		{"no creation time", "pages", "creation time", func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(createdKey) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			b, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			both := []storage.Write{{Record: r}, {Record: storage.Record{Key: other, Revision: 1}}}
			err = b.Update(t.Context(), storage.Keys(k, other), func([]storage.Record) ([]storage.Write, error) { return both, nil })
			if err != nil {
				t.Fatal(err)
			}
			settle(t, b)
			if err := b.db.Update(test.change); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			report, err := Check(path)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, report, test.kind, test.text)
		})
	}
}

func checkReport(t *testing.T, report Report, kind, text string) {
	t.Helper()
	if report.OK() != (kind == "") {
		t.Fatalf("Check = %+v; want problems: %v", report, kind != "")
	}
	if report.Format != format || report.FileBytes == 0 {
		t.Errorf("Check = %+v; want format and size", report)
	}
	for _, p := range report.Problems {
		if p.Kind == kind && strings.Contains(p.Text, text) {
			return
		}
	}
	if kind != "" {
		t.Errorf("Check found %+v; want %s: %s", report.Problems, kind, text)
	}
	if data, err := json.Marshal(report); err != nil || !strings.Contains(string(data), `"problems":[]`) {
		t.Errorf("a sound report is %s, %v; want an empty list of problems", data, err)
	}
}

func TestReportIsBounded(t *testing.T) {
	var r Report
	for range maxProblems + 5 {
		r.add("record", "", "x")
	}
	if len(r.Problems) != maxProblems || r.Omitted != 5 {
		t.Errorf("%d problems, %d omitted; want %d and 5", len(r.Problems), r.Omitted, maxProblems)
	}
}

// TestStaleIndex adds index entries that do not match their records. A removal must compare each
// index entry with the record.
func TestStaleIndex(t *testing.T) {
	b := openTest(t)
	kept, missing := testKey("kept"), testKey("missing")
	if err := count(b, kept); err != nil {
		t.Fatal(err)
	}
	err := b.db.Update(func(tx *bbolt.Tx) error {
		var err error
		for _, k := range []storage.Key{kept, missing} {
			for bucket, entry := range map[string][]byte{string(expiryBucket): expiryEntry(epoch(), k), string(tagsBucket): tagEntry(groupOf(k), "e", k)} {
				if err == nil {
					err = tx.Bucket([]byte(bucket)).Put(entry, nil)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := sweepUpTo(t.Context(), b, epoch(), 10)
	m, err2 := b.DeleteWhere(t.Context(), tagged("e"), 10)
	if n != 0 || len(m) != 0 || err != nil || err2 != nil {
		t.Errorf("removed %d and %d by stale entries, %v, %v; want none", n, len(m), err, err2)
	}
	if revision(t, b, kept) != 1 {
		t.Error("a removal deleted a record that had not expired and lacked the tag")
	}
}

// TestCheckFindsUntagged stores a record without a tag for its user. The key of the record contains
// the user. An erasure of the user finds records by their tags and would not remove a record
// without the tag.
func TestCheckFindsUntagged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	b, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []storage.Record{
		{Key: testKey("s").With(storage.Part{Tag: storage.User, Value: "ann"}), Revision: 1, Tags: []string{storage.SubjectTag("ann")}},
		{Key: testKey("s").With(storage.Part{Tag: storage.User, Value: "bob"}), Revision: 1, Tags: []string{storage.SubjectTag("ann")}},
	} {
		err := b.Update(t.Context(), storage.Keys(r.Key), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: r}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := Check(path)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Kind != "tag" || !strings.Contains(report.Problems[0].Key, "bob") {
		t.Errorf("Check = %+v, %v; want one record without its user's tag", report, err)
	}
}
