package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestPrune(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for entry, age := range map[string]time.Duration{
		"used/old": cacheLifetime + time.Hour, "used/new": cacheLifetime - time.Hour, "used/new-1": cacheLifetime + time.Hour, "gone/old": cacheLifetime + time.Hour,
		"used/old but touched": cacheLifetime + time.Hour,
	} {
		name := filepath.Join(dir, entry)
		if err := os.MkdirAll(filepath.Join(name, "code"), 0o700); err != nil {
			t.Fatal(err)
		}
		touch(name, now.Add(-age))
	}
	touch(filepath.Join(dir, "used/old but touched"), now)
	prune(dir, now)
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range left {
		left[i], _ = filepath.Rel(dir, name)
	}
	if want := []string{"used/new", "used/old but touched"}; !slices.Equal(left, want) {
		t.Errorf("entries left: %q; want %q", left, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone")); err == nil {
		t.Error("the empty folder of a domain was not removed")
	}
}
