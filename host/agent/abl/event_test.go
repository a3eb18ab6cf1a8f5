package abl_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

func TestEvents(t *testing.T) {
	fired := []string{"session:start", "session:end", "search:before", "agent:a:before", "agent:a:after", "agent:b:after", "tool:t:after", "entity:f:extracted", "step:enter:s", "step:exit:s"}
	for _, tt := range []struct {
		event   string
		matches []string
	}{
		{"session:start", []string{"session:start"}},
		{"search:before", []string{"search:before"}},
		{"agent:a:after", []string{"agent:a:after"}},
		{"agent:*:after", []string{"agent:a:after", "agent:b:after"}},
		{"agent:*:before", []string{"agent:a:before"}},
		{"tool:*:after", []string{"tool:t:after"}},
		{"tool:u:after", nil},
		{"entity:*:extracted", []string{"entity:f:extracted"}},
		{"entity:user.name:extracted", nil},
		{"step:enter:*", []string{"step:enter:s"}},
		{"step:exit:s", []string{"step:exit:s"}},
	} {
		e, err := abl.ParseEvent(tt.event)
		if err != nil || e.String() != tt.event {
			t.Errorf("ParseEvent(%s) = %s, %v", tt.event, e, err)
		}
		var got []string
		for _, name := range fired {
			f, err := abl.ParseEvent(name)
			if err != nil {
				t.Fatal(err)
			}
			if e.Matches(f) {
				got = append(got, name)
			}
		}
		if len(got) != len(tt.matches) || len(got) > 0 && got[0] != tt.matches[0] {
			t.Errorf("%s matches %v; want %v", tt.event, got, tt.matches)
		}
	}
	for _, bad := range []string{"", "session", "session:begin", "tool:t:before", "tool::after", "agent:a b:after", "step:enter:", "session:start:x", "entity:user.:extracted", "tool:a.b:after", "ON_START"} {
		if _, err := abl.ParseEvent(bad); err == nil {
			t.Errorf("ParseEvent(%q) succeeds", bad)
		}
	}
}
