package wasi

import (
	"context"
	"io"
)

// These are the type and the rights of descriptors that fd_fdstat_get returns.
const (
	characterDevice = 2

	rightRead     = 1 << 1  // fd_read
	rightSetFlags = 1 << 3  // fd_fdstat_set_flags
	rightWrite    = 1 << 6  // fd_write
	rightFilestat = 1 << 21 // fd_filestat_get
	rightPoll     = 1 << 27 // poll_fd_readwrite

	allFlags = 1<<5 - 1 // all bits of fdflags
)

// rights contains the operations that the descriptors of a guest allow. The rights for seeking
// (fd_seek, fd_tell) are missing. A C library treats a character device without seeking as a
// terminal and flushes its output line by line. If the rights included seeking, the library would
// buffer output until the guest exits, but a plug-in never exits.
var rights = [3]uint64{
	Stdin:  rightRead | rightSetFlags | rightFilestat | rightPoll,
	Stdout: rightWrite | rightSetFlags | rightFilestat | rightPoll,
	Stderr: rightWrite | rightSetFlags | rightFilestat | rightPoll,
}

func (s *System) isOpen(fd uint32) bool {
	return int64(fd) < int64(len(s.closed)) && !s.closed[fd]
}

// The method "may" reports whether the descriptor fd has a right.
func (s *System) may(fd uint32, right uint64) bool {
	return s.isOpen(fd) && s.rights(fd)&right != 0
}

func (s *System) rights(fd uint32) uint64 {
	if fd == Stdin && s.channel != nil {
		return rights[Stdin] | rightWrite
	}
	return rights[fd]
}

// answer returns a handler that always returns e.
func answer(e errno) handler {
	return func(context.Context, *System, memory, []uint64) errno { return e }
}

// onStdio returns a handler for an operation that terminals do not support. The first parameter of
// the operation is a descriptor. If the descriptor is open, the handler returns e. If the
// descriptor is not open, the handler returns EBADF.
func onStdio(e errno) handler {
	return func(_ context.Context, s *System, _ memory, p []uint64) errno {
		if !s.isOpen(uint32(p[0])) {
			return errBadf
		}
		return e
	}
}

// pathSymlink implements path_symlink(old_path, old_path_len, fd, new_path, new_path_len). The
// descriptor is the third parameter of path_symlink.
func pathSymlink(ctx context.Context, s *System, mem memory, p []uint64) errno {
	return onStdio(errNotdir)(ctx, s, mem, p[2:])
}

// fdClose implements fd_close(fd).
func fdClose(_ context.Context, s *System, _ memory, p []uint64) errno {
	fd := uint32(p[0])
	if !s.isOpen(fd) {
		return errBadf
	}
	s.closed[fd] = true
	return success
}

// fdRenumber implements fd_renumber(from, to). fdRenumber always fails. Guests use fd_renumber only
// for descriptors that they have opened, and a guest cannot open descriptors.
func fdRenumber(_ context.Context, s *System, _ memory, p []uint64) errno {
	if !s.isOpen(uint32(p[0])) || !s.isOpen(uint32(p[1])) {
		return errBadf
	}
	return errNotsup
}

// fdFdstatGet implements fd_fdstat_get(fd, fdstat*). The layout of fdstat is type u8, flags u16 at
// 2, rights u64 at 8, and inherited rights u64 at 16.
func fdFdstatGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	fd := uint32(p[0])
	if !s.isOpen(fd) {
		return errBadf
	}
	stat, ok := mem.bytes(uint32(p[1]), 24)
	if !ok {
		return errFault
	}
	clear(stat)
	stat[0] = characterDevice
	le.PutUint16(stat[2:], s.flags[fd])
	le.PutUint64(stat[8:], s.rights(fd))
	return success
}

// fdFdstatSetFlags implements fd_fdstat_set_flags(fd, flags). fdFdstatSetFlags stores the flags.
// The flags have no effect, because terminals neither block nor append.
func fdFdstatSetFlags(_ context.Context, s *System, _ memory, p []uint64) errno {
	fd, flags := uint32(p[0]), uint32(p[1])
	if !s.isOpen(fd) {
		return errBadf
	}
	if flags&^allFlags != 0 {
		return errInval
	}
	s.flags[fd] = uint16(flags)
	return success
}

// fdFilestatGet implements fd_filestat_get(fd, filestat*). The layout of filestat is device u64,
// inode u64 at 8, type u8 at 16, links u64 at 24, then size and times.
func fdFilestatGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	fd := uint32(p[0])
	if !s.isOpen(fd) {
		return errBadf
	}
	stat, ok := mem.bytes(uint32(p[1]), 64)
	if !ok {
		return errFault
	}
	clear(stat)
	le.PutUint64(stat[8:], uint64(fd)) // guests identify files by device and inode
	stat[16] = characterDevice
	le.PutUint64(stat[24:], 1)
	return success
}

// fdRead implements fd_read(fd, iovs*, iovs_len, nread*). Unless the input is a channel, it is
// empty.
func fdRead(_ context.Context, s *System, mem memory, p []uint64) errno {
	if !s.may(uint32(p[0]), rightRead) {
		return errBadf
	}
	vecs, e := mem.vectors(uint32(p[1]), uint32(p[2]))
	if e != success {
		return e
	}
	// Write the count first. If the count cannot be written to the guest's memory, fdRead must not
	// read any input.
	if e := mem.put32(uint32(p[3]), 0); e != success || s.channel == nil {
		return e
	}
	return mem.put32(uint32(p[3]), s.receive(vecs))
}

// receive fills the buffers from the channel. receive calls Read once for each buffer and stops
// after the first partial read.
func (s *System) receive(vecs vectors) (n uint32) {
	for buffer := range vecs.all {
		read, err := s.channel.Read(buffer)
		n += uint32(read)
		if err != nil && err != io.EOF {
			s.stop(err)
		}
		if read < len(buffer) {
			break
		}
	}
	return n
}

// fdWrite implements fd_write(fd, iovs*, iovs_len, nwritten*).
func fdWrite(ctx context.Context, s *System, mem memory, p []uint64) errno {
	fd := uint32(p[0])
	if !s.may(fd, rightWrite) {
		return errBadf
	}
	vecs, e := mem.vectors(uint32(p[1]), uint32(p[2]))
	if e != success {
		return e
	}
	// The count is written to the guest's memory before the output is printed. If the count cannot
	// be written, nothing may be printed. If the count is in the memory of a buffer, the guest
	// prints the count.
	if e := mem.put32(uint32(p[3]), vecs.total); e != success {
		return e
	}
	for buffer := range vecs.all {
		if fd != Stdin {
			s.print(ctx, int(fd), buffer)
		} else if _, err := s.channel.Write(buffer); err != nil {
			s.stop(err)
		}
	}
	return success
}
