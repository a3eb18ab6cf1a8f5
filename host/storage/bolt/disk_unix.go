//go:build darwin || freebsd || linux

package bolt

import "syscall"

// diskSpace describes the disk that contains dir. The results are the number of bytes that are free
// for this process, and the size of the disk in bytes.
func diskSpace(dir string) (free, total int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	size := int64(s.Bsize)
	return int64(s.Bavail) * size, int64(s.Blocks) * size, nil
}
