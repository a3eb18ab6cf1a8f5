package declare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
)

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"prefs": true, "a": true, "A-b_9": true, strings.Repeat("x", 64): true,
		"": false, "9a": false, "_a": false, "a b": false, "a.b": false, "é": false, strings.Repeat("x", 65): false,
		declare.SessionMeta: false, "SESSIONMETA": false,
	} {
		if err := declare.CheckName(name); (err == nil) != good {
			t.Errorf("CheckName(%q) = %v; want it valid: %t", name, err, good)
		}
	}
}

func TestRetention(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]declare.Retention{
		"session": {Session: true}, "1_day": {For: day}, "1 week": {For: 7 * day}, "1_month": {For: 30 * day},
		"90d": {For: 90 * day}, "36h": {For: 36 * time.Hour}, "90m": {For: 90 * time.Minute}, "10s": {For: 10 * time.Second},
		"36500d": {For: declare.MaxRetention},
	} {
		got, err := declare.ParseRetention(text)
		if err != nil || got != want {
			t.Errorf("ParseRetention(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := declare.ParseRetention(got.String()); err != nil || again != got {
			t.Errorf("ParseRetention(%q) = %+v, %v; want %+v, which String formats as the parsed text", got.String(), again, err, got)
		}
	}
	for _, text := range []string{"", "d", "0d", "-1d", "1w", "1.5h", "36501d", "9999999999d", "2_day"} {
		if got, err := declare.ParseRetention(text); err == nil {
			t.Errorf("ParseRetention(%q) = %+v; want an error", text, got)
		}
	}
	if text := (declare.Retention{}).String(); text != "" {
		t.Errorf("the zero Retention formats as %q; want nothing", text)
	}
}

func TestVerbs(t *testing.T) {
	all := []abi.Verb{abi.Read, abi.Write, abi.Delete}
	for text, want := range map[string][]abi.Verb{
		"read": {abi.Read}, "write, delete": {abi.Write, abi.Delete}, "readwrite": all, "delete,read": {abi.Delete, abi.Read},
		"": nil, "Read": nil, "read write": nil, "read,": nil,
	} {
		got, err := declare.ParseVerbs(text)
		if (err == nil) != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("ParseVerbs(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, verb := range all {
		if (declare.Grant{Store: "prefs"}).Allows(verb) {
			t.Errorf("a Grant without verbs allows %s", verb)
		}
		if !(declare.Grant{Store: "prefs", Verbs: all}).Allows(verb) {
			t.Errorf("a Grant of all verbs does not allow %s", verb)
		}
	}
}
