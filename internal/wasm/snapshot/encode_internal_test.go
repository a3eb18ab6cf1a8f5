package snapshot

import (
	"reflect"
	"testing"
)

func TestEncode(t *testing.T) {
	for _, m := range []Module{
		{Binary: []byte("code"), memory: []byte("data"), bytes: 1 << 20, globals: []string{"a", "toolrun:global:2"}, start: true},
		{Binary: []byte{}, memory: []byte{}},
	} {
		text, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Module
		if err := got.UnmarshalBinary(text); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("UnmarshalBinary = %+v, %v; want %+v", got, err, m)
		}
		for n := range text {
			if err := got.UnmarshalBinary(text[:n]); err == nil {
				t.Errorf("UnmarshalBinary accepts the first %d of %d bytes", n, len(text))
			}
		}
		if err := got.UnmarshalBinary(append(text, 0)); err == nil {
			t.Error("UnmarshalBinary accepts an extra byte")
		}
	}
}

// FuzzUnmarshal checks that any data either causes an error or decodes to a module that can be
// encoded and decoded without changes.
func FuzzUnmarshal(f *testing.F) {
	text, err := (&Module{Binary: []byte("code"), memory: []byte("data"), bytes: 8, globals: []string{"a"}, start: true}).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(formatMark + "\x00\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Module
		if m.UnmarshalBinary(text) != nil {
			return
		}
		again, err := m.MarshalBinary()
		var other Module
		if err != nil || other.UnmarshalBinary(again) != nil || !reflect.DeepEqual(m, other) {
			t.Errorf("%+v decodes as %+v, %v", m, other, err)
		}
	})
}
