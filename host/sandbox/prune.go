package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

// cacheLifetime is the time after which unused compiled code is removed. When a tool changes, its
// old code stays in the cache.
const cacheLifetime = 30 * 24 * time.Hour

// touch marks compiled code as used.
func touch(entry string, now time.Time) { _ = os.Chtimes(entry, now, now) } // on failure, the code is compiled again

// prune removes compiled code that has not been used for a long time, and the folders of compilers
// that were killed. prune ignores errors, because without a removal the cache only uses more space.
func prune(cacheDir string, now time.Time) {
	entries, _ := filepath.Glob(filepath.Join(cacheDir, "*", "*")) // Glob fails only for a malformed pattern
	for _, entry := range entries {
		if info, err := os.Lstat(entry); err == nil && now.Sub(info.ModTime()) > cacheLifetime {
			_ = os.RemoveAll(entry)
		}
	}
	domains, _ := filepath.Glob(filepath.Join(cacheDir, "*"))
	for _, domain := range domains {
		_ = os.Remove(domain) // Remove fails unless the folder is empty
	}
}
