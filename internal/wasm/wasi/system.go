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

// The descriptors that a guest starts with. There are no others.
const (
	Stdin  = 0
	Stdout = 1
	Stderr = 2
)

// MaxVariables bounds the bytes of a guest's arguments, and those of its environment, a terminating byte each
// included.
const MaxVariables = 1 << 20

// Config says what a guest finds. Its zero value has no arguments and no environment, the real clocks, the
// real source of randomness, and discards what the guest prints.
type Config struct {
	// Args are the arguments, the first of which is by custom the program's name. Default none.
	Args []string
	// Environ is the environment, each "NAME=value". Default none.
	Environ []string

	// Walltime is the realtime clock. It is called in every clock_time_get that asks for it, while the guest
	// waits, and its answer is not kept: a caller may look at the guest's memory in it. Default time.Now.
	Walltime func() time.Time
	// Nanotime is the monotonic clock, in nanoseconds from any start. It is positive and never runs back (the
	// Go runtime does not start where it reads zero). Default: the time since New.
	Nanotime func() int64
	// Sleep waits for d, or until ctx ends; an error ends the guest. Whoever gives clocks that do not run by
	// themselves moves them here. Default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random is where random_get reads. An error of it is EIO in the guest. Default crypto/rand.
	Random io.Reader

	// Channel makes Stdin a channel to the host: fd_read reads from it, fd_write to Stdin writes to it, a message for
	// each buffer. The bytes belong to the guest and change after the call. io.EOF of Read is the end of what is there
	// now; any other error of either ends the guest. Default: Stdin is empty, and not open for writing.
	Channel io.ReadWriter

	// Log takes what the guest prints, a line at a time: the descriptor, Stdout or Stderr, and the line without
	// its newline, at most MaxLine bytes, which belong to the guest and change after the call. Valid UTF-8 is
	// never cut within a character; whether it is valid is for the receiver to see. An error ends the guest.
	// Default: discard.
	Log func(stream int, line []byte) error
}

// System is the operating system of one run of a guest: its arguments, its clocks, its three descriptors. It
// is used by one goroutine at a time, that of the guest's call.
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
	flags   [3]uint16 // fdflags, which a guest may set and read back
	pending [3][]byte // the line that is not yet whole
	err     error     // what ended the guest
}

// New makes the System of one run. An error names every argument and variable that no guest can be given.
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

// checkStrings refuses what cannot be a C string, and too much of it. It quotes no value.
func checkStrings(what string, list []string) error {
	var errs []error
	total := 0
	for i, s := range list {
		if strings.IndexByte(s, 0) >= 0 {
			errs = append(errs, fmt.Errorf("%s %d holds a NUL byte", what, i))
		}
		total += len(s) + 1
	}
	if total > MaxVariables {
		errs = append(errs, fmt.Errorf("the %ss take %d bytes; at most %d can be given", what, total, MaxVariables))
	}
	return errors.Join(errs...)
}

func checkNames(environ []string) error {
	var errs []error
	for i, s := range environ {
		if strings.IndexByte(s, '=') <= 0 {
			errs = append(errs, fmt.Errorf("environment variable %d is not of the form NAME=value", i))
		}
	}
	return errors.Join(errs...)
}

// Err returns the error that ended the guest from outside: that of Config.Log, Config.Channel or Config.Sleep, or the cause of
// the context's end, as it is. It is nil where the guest returned, exited or trapped by itself. The error of
// the guest's call wraps it with wazero's stack trace.
func (s *System) Err() error { return s.err }

// stop ends the guest with err. A panic is how a host function of wazero ends its guest: wazero recovers it
// where the guest was called and returns it there as an error. No instruction of a guest can catch it.
func (s *System) stop(err error) {
	if s.err == nil {
		s.err = err
	}
	panic(s.err)
}

// checkEnd ends a guest whose context ended.
func (s *System) checkEnd(ctx context.Context) {
	if ctx.Err() != nil {
		s.stop(context.Cause(ctx))
	}
}
