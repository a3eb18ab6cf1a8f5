package apitypes_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/session"
)

// TestTypesMatch compares the types for clients with the types of the service.
func TestTypesMatch(t *testing.T) {
	for _, tt := range []struct {
		read, written any
		spelled       func(string) string // converts names; may be nil
	}{
		{read: apitypes.Session{}, written: session.Session{}},
		{read: apitypes.Workflow{}, written: session.Workflow{}},
		{read: apitypes.Artifact{}, written: artifact.Artifact{}, spelled: snake},
		{read: apitypes.RecordInfo{}, written: memory.RecordInfo{}},
		{read: apitypes.Entry{}, written: memory.Entry{}},
		{read: apitypes.LedgerEntry{}, written: ledger.Entry{}},
		{read: apitypes.Erased{}, written: memory.Erased{}},
		{read: apitypes.SleepStatus{}, written: host.SleepStatus{}},
		{read: apitypes.AppUsage{}, written: metering.Usage{}},
	} {
		got, want := shape(tt.read), shape(tt.written)
		if tt.spelled != nil {
			for i, field := range want {
				want[i] = tt.spelled(field)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%T has the fields\n%q\nwant those of %T\n%q", tt.read, got, tt.written, want)
		}
	}
}

var humps = regexp.MustCompile("([a-z])([A-Z])")

// snake converts the JSON name at the end of a field description to snake_case. The function
// "shape" creates these descriptions.
func snake(field string) string {
	at := strings.LastIndexByte(field, ' ')
	return field[:at] + strings.ToLower(humps.ReplaceAllString(field[at:], "${1}_$2"))
}

// shape lists the fields of a struct with their types and JSON names.
func shape(v any) []string {
	var fields []string
	for f := range reflect.TypeOf(v).Fields() {
		fields = append(fields, f.Name+" "+f.Type.String()+" "+f.Tag.Get("json"))
	}
	return fields
}
