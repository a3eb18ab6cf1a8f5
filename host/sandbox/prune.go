package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

// cacheLifetime is how long unused compiled code is kept. A tool that changed leaves its old code
// behind.
const cacheLifetime = 30 * 24 * time.Hour

// touch marks compiled code as used.
func touch(entry string, now time.Time) { _ = os.Chtimes(entry, now, now) } // if this fails, the code is compiled again some day

// prune removes compiled code that was not used for long, and the folders of compilers that were
// killed. It ignores errors: the cache is then larger than necessary.
func prune(cacheDir string, now time.Time) {
	entries, _ := filepath.Glob(filepath.Join(cacheDir, "*", "*")) // fails only for a malformed pattern
	for _, entry := range entries {
		if info, err := os.Lstat(entry); err == nil && now.Sub(info.ModTime()) > cacheLifetime {
			_ = os.RemoveAll(entry)
		}
	}
	domains, _ := filepath.Glob(filepath.Join(cacheDir, "*"))
	for _, domain := range domains {
		_ = os.Remove(domain) // fails unless the folder is empty
	}
}
