package wasi

import (
	"context"
	"io"

	"github.com/tetratelabs/wazero/sys"
)

// randomPart is the number of random bytes between two checks of the context. Generating these
// bytes takes about a tenth of a millisecond.
const randomPart = 64 << 10

// argsSizesGet implements args_sizes_get(argc*, bytes*).
func argsSizesGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	return putSizes(mem, s.args, p)
}

// argsGet implements args_get(argv**, buffer*).
func argsGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	return putStrings(mem, s.args, p)
}

// environSizesGet implements environ_sizes_get(count*, bytes*).
func environSizesGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	return putSizes(mem, s.environ, p)
}

// environGet implements environ_get(environ**, buffer*).
func environGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	return putStrings(mem, s.environ, p)
}

// size returns the size in bytes of a list of C strings. New has checked that the size is within
// the limit.
func size(list []string) uint32 {
	n := 0
	for _, s := range list {
		n += len(s) + 1
	}
	return uint32(n)
}

func putSizes(mem memory, list []string, p []uint64) errno {
	count, ok := mem.bytes(uint32(p[0]), 4)
	if !ok {
		return errFault
	}
	bytes, ok := mem.bytes(uint32(p[1]), 4)
	if !ok {
		return errFault
	}
	le.PutUint32(count, uint32(len(list)))
	le.PutUint32(bytes, size(list))
	return success
}

func putStrings(mem memory, list []string, p []uint64) errno {
	pointers, ok := mem.bytes(uint32(p[0]), uint32(len(list))*4)
	if !ok {
		return errFault
	}
	at := uint32(p[1])
	buffer, ok := mem.bytes(at, size(list))
	if !ok {
		return errFault
	}
	for _, s := range list {
		le.PutUint32(pointers, at)
		copy(buffer, s)
		buffer[len(s)] = 0
		pointers, buffer, at = pointers[4:], buffer[len(s)+1:], at+uint32(len(s))+1
	}
	return success
}

// randomGet implements random_get(buffer*, length).
func randomGet(ctx context.Context, s *System, mem memory, p []uint64) errno {
	buffer, ok := mem.bytes(uint32(p[0]), uint32(p[1]))
	if !ok {
		return errFault
	}
	for len(buffer) > 0 {
		s.checkEnd(ctx)
		part := buffer[:min(len(buffer), randomPart)]
		if _, err := io.ReadFull(s.random, part); err != nil {
			return errIO
		}
		buffer = buffer[len(part):]
	}
	return success
}

// schedYield implements sched_yield(). schedYield only checks the context, so that a guest that
// calls sched_yield in a loop can be stopped.
func schedYield(ctx context.Context, s *System, _ memory, _ []uint64) errno {
	s.checkEnd(ctx)
	return success
}

// procExit implements proc_exit(code). procExit exits the guest, whose call then returns a
// *sys.ExitError.
//
// Unlike wazero's own function, procExit does not close the instance. Closing the instance would
// free a memory that the host may still read or reuse. wazero reserves some exit codes to report
// the end of a context. procExit reduces these codes to the low byte, as POSIX does. A guest
// therefore cannot simulate a timeout.
func procExit(_ context.Context, _ *System, _ memory, p []uint64) errno {
	code := uint32(p[0])
	if code == sys.ExitCodeContextCanceled || code == sys.ExitCodeDeadlineExceeded {
		code &= 0xff
	}
	panic(sys.NewExitError(code))
}
