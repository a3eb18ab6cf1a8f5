package journal_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/journal"
)

// sample returns an encoded journal that contains two answers and a fault.
func sample(t testing.TB) []byte {
	j, p := journal.New("run", journal.Limits{}), &provider{}
	a, err := j.Begin()
	if err != nil {
		t.Fatal(err)
	}
	fault := func(context.Context, string) ([]byte, error) {
		return nil, abi.Faultf(abi.Unavailable, "busy").WithHint("retry")
	}
	a.Do(t.Context(), chat("x"), p.answer("x"))
	a.Do(t.Context(), chat("x"), p.answer("x"))
	a.Do(t.Context(), journal.Request{Kind: "http", Target: "example.org", Safe: true}, fault)
	data, err := j.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeDamaged(t *testing.T) {
	data := sample(t)
	if _, err := journal.Decode(data, "run", journal.Limits{}); err != nil {
		t.Fatalf("Decode() = %v", err)
	}
	for n := range data {
		if _, err := journal.Decode(data[:n], "run", journal.Limits{}); err == nil {
			t.Errorf("Decode of the first %d of %d bytes succeeded; want an error", n, len(data))
		}
	}
	for name, tc := range map[string]struct {
		data   []byte
		run    string
		limits journal.Limits
	}{
		"another run":   {data, "run2", journal.Limits{}},
		"another byte":  {append(bytes.Clone(data), 0), "run", journal.Limits{}},
		"other version": {append([]byte{9}, data[1:]...), "run", journal.Limits{}},
		"entries":       {data, "run", journal.Limits{Entries: 2}},
		"bytes":         {data, "run", journal.Limits{Bytes: 300}},
	} {
		if _, err := journal.Decode(tc.data, tc.run, tc.limits); err == nil {
			t.Errorf("%s: Decode succeeded; want an error", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data := sample(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := journal.Decode(data, "run", journal.Limits{})
		if err != nil {
			return
		}
		once, err := j.Encode()
		if err != nil {
			t.Fatalf("Encode() of a decoded journal = %v", err)
		}
		again, err := journal.Decode(once, "run", journal.Limits{})
		if err != nil {
			t.Fatalf("Decode(Encode()) = %v", err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Encode() = %q, %v; want %q again", twice, err, once)
		}
	})
}
