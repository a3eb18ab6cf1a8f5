package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

// keptFor is how long compiled code is kept that nobody asks for: a tool that changed has left its old code behind.
const cacheLifetime = 30 * 24 * time.Hour

// touch notes that compiled code is in use.
func touch(entry string, now time.Time) { _ = os.Chtimes(entry, now, now) } // where that fails, it is compiled again one day

// prune removes compiled code that has not been used for long, and what is left of compilers that were killed. What
// cannot be removed stays: the cache is larger then, and no worse.
func prune(cacheDir string, now time.Time) {
	entries, _ := filepath.Glob(filepath.Join(cacheDir, "*", "*")) // fails for a bad pattern only
	for _, entry := range entries {
		if info, err := os.Lstat(entry); err == nil && now.Sub(info.ModTime()) > cacheLifetime {
			_ = os.RemoveAll(entry)
		}
	}
	domains, _ := filepath.Glob(filepath.Join(cacheDir, "*"))
	for _, domain := range domains {
		_ = os.Remove(domain) // unless there is something in it
	}
}
