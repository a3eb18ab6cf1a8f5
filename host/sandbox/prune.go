package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

// cacheLifetime is the time after which unused compiled code is removed. When a tool changes, the
// code of its old version stays in the cache.
const cacheLifetime = 30 * 24 * time.Hour

// touch marks compiled code as used.
func touch(entry string, now time.Time) { _ = os.Chtimes(entry, now, now) } // can fail

// prune removes compiled code that has not been used for a long time. The function also removes
// folders of killed compilers. Errors are ignored, because an error means only that the cache uses
// more space.
func prune(cacheDir string, now time.Time) {
	entries, _ := filepath.Glob(filepath.Join(cacheDir, "*", "*")) // only a malformed pattern fails
	for _, entry := range entries {
		if info, err := os.Lstat(entry); err == nil && now.Sub(info.ModTime()) > cacheLifetime {
			_ = os.RemoveAll(entry)
		}
	}
	domains, _ := filepath.Glob(filepath.Join(cacheDir, "*"))
	for _, domain := range domains {
		_ = os.Remove(domain) // Remove fails if the folder is not empty
	}
}
