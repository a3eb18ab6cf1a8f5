//go:build darwin || freebsd || linux

package bolt

import "syscall"

// diskSpace returns the free space for this process on the disk of dir, and the size of that disk,
// in bytes.
func diskSpace(dir string) (free, total int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	size := int64(s.Bsize)
	return int64(s.Bavail) * size, int64(s.Blocks) * size, nil
}
