package wasi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// These are the descriptors of a guest. A guest cannot open other descriptors.
const (
	Stdin  = 0
	Stdout = 1
	Stderr = 2
)

// MaxVariables is the maximum size in bytes of a guest's arguments, and also the maximum size of
// its environment. The size of a string includes its terminating zero byte.
const MaxVariables = 1 << 20

// Config is the configuration of a System. The zero value of Config has no arguments and no
// environment variables, uses the real clocks and the real random source, and discards output.
type Config struct {
	// Args are the arguments. By convention, the first argument is the program name. Default: none.
	Args []string
	// Environ is the environment as strings of the form "NAME=value". Default: none.
	Environ []string

	// Walltime is the realtime clock. Each clock_time_get of the realtime clock calls Walltime; its
	// results are not cached. The guest waits during a call of Walltime, so Walltime may inspect
	// the guest's memory. Default: time.Now.
	Walltime func() time.Time
	// Nanotime is the monotonic clock, in nanoseconds since an arbitrary start. Nanotime never runs
	// backward. Nanotime must be positive, because the Go runtime does not start if it reads zero.
	// The default of Nanotime is the time since New.
	Nanotime func() int64
	// Sleep waits for the duration d or until ctx ends. If Sleep returns an error, the guest is
	// stopped. If the clocks are simulated, Sleep must advance them. Default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random is the source for random_get. If a read fails, the guest receives EIO. Default:
	// crypto/rand.
	Random io.Reader

	// Channel makes Stdin a channel to the host. fd_read reads from Channel. fd_write to Stdin
	// writes to Channel, with one message for each buffer. The byte slices that Channel receives
	// refer to guest memory and must not be kept after the call. If Read returns io.EOF, no more
	// data is available at this time. If Read returns any other error, the guest is stopped.
	// Default: Stdin is empty and not open for writing.
	Channel io.ReadWriter

	// Log receives the output of the guest line by line. The arguments of Log are the descriptor
	// (Stdout or Stderr) and the line without its newline, which has at most MaxLine bytes. The
	// byte slice that Log receives refers to guest memory and must not be kept after the call. A
	// long line is never split within a UTF-8 character, but it may contain invalid UTF-8. If Log
	// returns an error, the guest is stopped. Default: output is discarded.
	Log func(stream int, line []byte) error
}

// System is the WASI state of one run of a guest, such as its arguments, clocks and descriptors.
// Only the goroutine that calls the guest may use the System.
type System struct {
	args    []string
	environ []string

	walltime func() time.Time
	nanotime func() int64
	sleep    func(ctx context.Context, d time.Duration) error
	random   io.Reader
	channel  io.ReadWriter
	log      func(stream int, line []byte) error

	closed  [3]bool
	flags   [3]uint16 // the fdflags, which a guest can set and read
	pending [3][]byte // the incomplete line
	err     error     // the error that stopped the guest
}

// New returns the System for one run. The error names all invalid arguments and environment
// variables.
func New(c Config) (*System, error) {
	err := errors.Join(checkStrings("argument", c.Args), checkStrings("environment variable", c.Environ), checkNames(c.Environ))
	if err != nil {
		return nil, err
	}
	s := &System{args: c.Args, environ: c.Environ, walltime: c.Walltime, nanotime: c.Nanotime, sleep: c.Sleep, random: c.Random, channel: c.Channel, log: c.Log}
	if s.walltime == nil {
		s.walltime = time.Now
	}
	if s.nanotime == nil {
		start := time.Now()
		s.nanotime = func() int64 { return int64(time.Since(start)) + 1 }
	}
	if s.sleep == nil {
		s.sleep = sleep
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	return s, nil
}

// checkStrings checks that all values are C strings and do not exceed the size limit. The errors of
// checkStrings do not quote values.
func checkStrings(what string, list []string) error {
	var errs []error
	total := 0
	for i, s := range list {
		if strings.IndexByte(s, 0) >= 0 {
			errs = append(errs, fmt.Errorf("%s %d contains a NUL byte", what, i))
		}
		total += len(s) + 1
	}
	if total > MaxVariables {
		errs = append(errs, fmt.Errorf("the %ss have %d bytes; the limit is %d", what, total, MaxVariables))
	}
	return errors.Join(errs...)
}

func checkNames(environ []string) error {
	var errs []error
	for i, s := range environ {
		if strings.IndexByte(s, '=') <= 0 {
			errs = append(errs, fmt.Errorf("environment variable %d does not have the form NAME=value", i))
		}
	}
	return errors.Join(errs...)
}

// Err returns the error with which the host stopped the guest. The error is the error of
// Config.Log, Config.Channel or Config.Sleep, or the cause of the context. If the guest returned,
// exited or trapped, Err returns nil. The error of the guest's call wraps the error that Err
// returns, and adds wazero's stack trace.
func (s *System) Err() error { return s.err }

// stop stops the guest with err. stop panics, as wazero requires. wazero recovers the panic, and
// returns err as the error of the guest's call. No instruction of a guest can catch this panic.
func (s *System) stop(err error) {
	if s.err == nil {
		s.err = err
	}
	panic(s.err)
}

// checkEnd stops the guest if the context has ended.
func (s *System) checkEnd(ctx context.Context) {
	if ctx.Err() != nil {
		s.stop(context.Cause(ctx))
	}
}
