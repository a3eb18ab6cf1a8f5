package wire_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/httpapi/wire"
	"github.com/toolrun/toolrun/host/memory"
)

// TestDescribed compares what a client reads with what the service writes.
func TestDescribed(t *testing.T) {
	for _, tt := range []struct {
		read, written any
		more          []string // what the service adds by itself
	}{
		{read: wire.Session{}, written: memory.Session{}},
		{read: wire.File{}, written: memory.Artifact{}, more: []string{"URL string downloadUrl,omitempty"}},
		{read: wire.Listed{}, written: memory.Listed{}},
		{read: wire.LedgerEntry{}, written: memory.LedgerEntry{}},
		{read: wire.Erased{}, written: memory.Erased{}},
	} {
		got, want := shape(tt.read), append(shape(tt.written), tt.more...)
		if !slices.Equal(got, want) {
			t.Errorf("%T has the fields\n%q\nwant those of %T\n%q", tt.read, got, tt.written, want)
		}
	}
}

// shape lists the fields of a struct with their types and their names in JSON.
func shape(v any) []string {
	var fields []string
	for f := range reflect.TypeOf(v).Fields() {
		fields = append(fields, f.Name+" "+f.Type.String()+" "+f.Tag.Get("json"))
	}
	return fields
}
