package spell_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/spell"
)

func TestName(t *testing.T) {
	stores := []string{"userPrefs", "orders", "visits", "userPhotos"}
	commands := []string{"check", "db", "erase", "export", "import", "memory", "render", "run", "session", "version"}
	tests := []struct {
		word  string
		names []string
		want  string
	}{
		{"visit", stores, "visits"},
		{"vists", stores, "visits"},
		{"ivsits", stores, "visits"}, // swapped neighbours
		{"USERPREFS", stores, "userPrefs"},
		{"user", stores, "userPrefs"}, // a prefix
		{"userProfs", stores, "userPrefs"},
		{"basket", stores, ""},
		{"or", stores, ""}, // too short
		{"", stores, ""},
		{"vsts", stores, ""},     // two of four letters
		{"trace", commands, ""},  // distance 2 from erase
		{"rnu", commands, "run"}, // one of three
		{"exprot", commands, "export"},
		{strings.Repeat("x", 1<<20), stores, ""},
		{"visits", nil, ""},
	}
	for _, tt := range tests {
		if got := spell.Name(tt.word, tt.names); got != tt.want {
			t.Errorf("Name(%.20q) = %q; want %q", tt.word, got, tt.want)
		}
	}
}
