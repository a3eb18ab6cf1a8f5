package engine_test

import (
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
)

func TestInfos(t *testing.T) {
	table := []engine.Info{
		{Name: "b", Extensions: []string{".b", ".bb"}, Imports: []string{".json"}, Languages: []engine.Language{{Name: "bee"}, {Name: "bumblebee"}}},
		{Name: "a", Extensions: []string{".a"}, Imports: []string{".json", ".b"}},
	}
	if got, want := engine.Extensions(table), []string{".b", ".bb", ".a"}; !slices.Equal(got, want) {
		t.Errorf("Extensions = %q; want %q", got, want)
	}
	if got, want := engine.Readable(table), []string{".a", ".b", ".bb", ".json"}; !slices.Equal(got, want) {
		t.Errorf("Readable = %q; want %q", got, want)
	}
	if got := engine.Languages(table); len(got) != 2 || got[0].Name != "bee" || got[1].Name != "bumblebee" {
		t.Errorf("Languages = %v; want bee and bumblebee", got)
	}
}
