package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/storage"
)

func sample() storage.Record {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	return storage.Record{
		Key:      storage.MakeKey(storage.Part{Tag: storage.Store, Value: "s"}),
		Content:  []byte(`{"a":1}`),
		Revision: 7, Generation: "i1", Run: "run1",
		Created: at, Updated: at.Add(time.Second), Expires: at.Add(time.Hour),
		Tags: []string{"session/s1", "workflow/w1"},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		when := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.Bool().Draw(t, "none") {
				return time.Time{}
			}
			return time.UnixMicro(rapid.Int64Range(-1e17, 1e17).Draw(t, "micros")).UTC()
		})
		want := storage.Record{
			Key:        storage.Key(rapid.String().Draw(t, "key")),
			Content:    rapid.SliceOf(rapid.Byte()).Draw(t, "content"),
			Revision:   rapid.Int64Min(1).Draw(t, "revision"),
			Generation: rapid.String().Draw(t, "generation"),
			Run:        rapid.String().Draw(t, "run"),
			Created:    when.Draw(t, "created"), Updated: when.Draw(t, "updated"), Expires: when.Draw(t, "expires"),
			Tags: rapid.SliceOf(rapid.String()).Draw(t, "tags"),
		}
		data := storage.AppendRecord([]byte("before"), want)
		got, err := storage.DecodeRecord(want.Key, data[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		clear(data)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the decoded record differs (-want +got):\n%s", diff)
		}
	})
}

func TestDecodeRecordCorrupt(t *testing.T) {
	r := sample()
	data := storage.AppendRecord(nil, r)
	wantCorrupt := func(what string, key storage.Key, data []byte) {
		t.Helper()
		got, err := storage.DecodeRecord(key, data)
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), key.String()) {
			t.Errorf("DecodeRecord of %s = %+v, %v; want ErrCorrupt with the key", what, got, err)
		}
	}
	for bit := range len(data) * 8 {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		wantCorrupt("a record with a flipped bit", r.Key, flipped)
	}
	for n := range data {
		wantCorrupt("a truncated record", r.Key, data[:n])
	}
	wantCorrupt("a longer record", r.Key, append(slices.Clone(data), 0))
	wantCorrupt("another key's record", storage.MakeKey(storage.Part{Tag: storage.Store, Value: "t"}), data)
}

// FuzzDecodeRecord decodes arbitrary data with a correct checksum, to test the code that runs after
// the checksum verification.
func FuzzDecodeRecord(f *testing.F) {
	r := sample()
	f.Add(string(r.Key), storage.AppendRecord(nil, r))
	f.Add("", storage.AppendRecord(nil, storage.Record{Revision: 1}))
	f.Add("k", append(storage.AppendRecord(nil, storage.Record{Key: "k", Revision: 1})[:32], bytes.Repeat([]byte{0xff}, 20)...))
	f.Add("k", []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		data = slices.Clone(data)
		if len(data) > 5 {
			table := crc32.MakeTable(crc32.Castagnoli)
			binary.LittleEndian.PutUint32(data[1:], crc32.Update(crc32.Checksum([]byte(key), table), table, data[5:]))
		}
		got, err := storage.DecodeRecord(storage.Key(key), data)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("DecodeRecord = %v; want ErrCorrupt", err)
			}
			return
		}
		again, err := storage.DecodeRecord(got.Key, storage.AppendRecord(nil, got))
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("the decoded record differs: %v\n%s", err, diff)
		}
	})
}

// TestHasVersion compares HasVersion with the version of the decoded record.
func TestHasVersion(t *testing.T) {
	key := storage.MakeKey(storage.Part{Tag: storage.Store, Value: "s"})
	r := storage.Record{Key: key, Revision: 300, Generation: "i1", Run: "run", Tags: []string{"e"}, Content: []byte("content")}
	data := storage.AppendRecord(nil, r)
	other := r.Version()
	other.Revision++
	older := r.Version()
	older.Generation = "i"
	none := storage.Version{Key: key}
	for _, c := range []struct {
		name string
		data []byte
		v    storage.Version
		want bool
	}{
		{"itself", data, r.Version(), true},
		{"another revision", data, other, false},
		{"another generation", data, older, false},
		{"none", data, none, false},
		{"a missing record", nil, r.Version(), false},
		{"the version of a missing record", nil, none, true},
	} {
		if got, err := storage.HasVersion(c.data, c.v); got != c.want || err != nil {
			t.Errorf("HasVersion of %s = %v, %v; want %v", c.name, got, err, c.want)
		}
	}
	for n := range data[:len(data)-len("content")] { // a truncated record must not cause a panic or match the version
		if got, _ := storage.HasVersion(data[:n], r.Version()); got && n < 33 {
			t.Errorf("HasVersion of the first %d bytes = true", n)
		}
	}
	if _, err := storage.HasVersion([]byte{9}, none); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("HasVersion of another format = %v; want ErrCorrupt", err)
	}
}
