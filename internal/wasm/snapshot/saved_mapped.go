//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// save writes the bytes of a source to a file as whole pages.
func (s *source) save(name string) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	out, zero := bufio.NewWriterSize(file, 1<<20), make([]byte, pageSize)
	for at := 0; at < s.length(); at += pageSize {
		page := s.page(at)
		if page == nil {
			page = zero
		}
		if _, err := out.Write(page); err != nil {
			return err
		}
	}
	return out.Flush()
}

// openSource maps a file that was written by save.
func openSource(name string) (*source, error) {
	s := &source{}
	s.users.Store(1)
	var err error
	if s.fd, err = unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	if err := s.mapWhole(); err != nil {
		s.close()
		return nil, fmt.Errorf("open image: %w", err)
	}
	return s, nil
}

func (s *source) mapWhole() error {
	var stat unix.Stat_t
	if err := unix.Fstat(s.fd, &stat); err != nil {
		return err
	}
	if stat.Size%int64(pageSize) != 0 || stat.Size > maxMemoryBytes {
		return fmt.Errorf("invalid size of a memory image: %d bytes", stat.Size)
	}
	if stat.Size == 0 {
		return nil
	}
	var err error
	s.view, err = unix.Mmap(s.fd, 0, int(stat.Size), unix.PROT_READ, unix.MAP_SHARED)
	return err
}
