package python

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// services are what a guest can ask for while it does what it was asked.
type services interface {
	// call performs a memory operation, refuse raises what says that one is malformed.
	call(op string, args []string) ([]byte, error)
	refuse(op, kind, message string) ([]byte, error)
	log(level abi.Level, text string) error
	// warn notes what is for the one who asked for the run.
	warn(text string)
	// file reads a file of the tool's folder.
	file(name string) (text string, ok bool, err error)
}

// session is the conversation with one guest: what it is asked, what it asks, how it ends. It belongs to the goroutine
// that calls the guest.
type session struct {
	ctx       context.Context
	serves    services
	system    *wasi.System
	announced func(fields []string)

	requests []string // what the guest is to read, one after the other
	doing    string   // the verb of the request that it read last
	inbox    []byte   // what it has yet to read of a request or a reply
	full     bool     // what it read last filled its buffer, so that it asks for more
	ready    []string // what it announced
	most     int      // how many bytes of an outcome are kept
	over     bool     // it is not to go on

	outcome outcome
	done    []byte // what it told when it had last done what was to be done before a run
	halted  error  // what ended it from outside
}

// What bounds the messages of a guest, which could be as large as its memory.
const (
	maxVerb      = 16 // more than any verb has, with the line feed after it
	maxFields    = 16 // more than any call has
	maxCallBytes = 3*maxArgumentBytes + 1<<10
)

// outcome is how a guest answered a request.
type outcome struct {
	verb string // "done", "answer", "unfit" or "error"; "" for nothing
	rest []byte
}

func newSession(ctx context.Context, serves services, from machine.Sources) *session {
	s := &session{ctx: ctx, serves: serves, most: 1 << 20}
	from = from.WithDefaults()
	wall := func() time.Time {
		if s.ready != nil && s.announced != nil { // the guest holds still, at a place that it announced
			s.announced(s.ready)
			s.announced = nil
		}
		return from.Walltime()
	}
	// There are no arguments that could be wrong but those of this package.
	s.system, _ = wasi.New(wasi.Config{
		Args:     []string{"python", "-I", "-S", "-B", "-X", "utf8", "-c", bootProgram()},
		Walltime: wall, Nanotime: from.Nanotime, Random: from.Random, Channel: s, Log: s.printed,
	})
	return s
}

// push adds a request.
func (s *session) push(request string) { s.requests = append(s.requests, request) }

// context is that of calls of the guest.
func (s *session) context() context.Context {
	return machine.With(wasi.With(s.ctx, s.system), s)
}

// ask has a started interpreter answer the next request.
func (s *session) ask(i *interpreter, in *snapshot.Instance) error {
	s.outcome = outcome{}
	return s.ended(i.call(s.context(), in))
}

// launch starts an interpreter, which then answers all requests.
func (s *session) launch(in *snapshot.Instance) error {
	_, err := in.Guest().ExportedFunction(startExport).Call(s.context())
	return s.ended(err)
}

// ended is what a call of the guest ended with: of the host's own reasons, the first.
func (s *session) ended(err error) error {
	if stopped := s.system.Flush(); s.halted == nil {
		s.halted = stopped
		if stopped != nil && s.ctx.Err() != nil { // it slept, or it printed
			s.halted = engine.EndOf(s.ctx)
		}
	}
	if s.halted != nil {
		return s.halted
	}
	return err
}

// Read hands the guest what it is to read: what is left of a message, and then the next request, after the end of the
// message was seen.
func (s *session) Read(p []byte) (int, error) {
	if s.over {
		return 0, machine.ErrStopped
	}
	if len(s.inbox) == 0 && !s.full && len(s.requests) > 0 && s.outcome.verb != "error" {
		s.inbox, s.requests = []byte(s.requests[0]), s.requests[1:]
		s.doing, _, _ = strings.Cut(string(s.inbox[:min(len(s.inbox), maxVerb)]), "\n")
	}
	n := copy(p, s.inbox)
	s.inbox = s.inbox[n:]
	s.full = n == len(p)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write takes a message of the guest. A guest may write what it likes: what means nothing is dropped. An error ends it.
func (s *session) Write(message []byte) (int, error) {
	if s.ctx.Err() != nil {
		s.halted = engine.EndOf(s.ctx)
		return 0, s.halted
	}
	verb, rest, _ := bytes.Cut(message, []byte{'\n'})
	if err := s.take(string(verb[:min(len(verb), maxVerb)]), rest); err != nil {
		s.halted = err
		return 0, err
	}
	return len(message), nil
}

func (s *session) take(verb string, rest []byte) (err error) {
	switch verb {
	case "call", "refuse", "file", "zone", "zones":
		s.full = false
		s.inbox, err = s.reply(verb, rest)
	case "log":
		level, text, _ := bytes.Cut(rest, []byte{'\n'})
		return s.serves.log(levelOf(string(level[:min(len(level), maxVerb)])), quoted(text, maxLogBytes))
	case "warn":
		s.serves.warn(quoted(rest, maxMessageBytes))
	case "ready":
		s.ready = strings.Split(string(rest[:min(len(rest), maxNameBytes)]), "\n")
	case "done", "answer", "unfit", "error":
		// What is cut off belongs to what is too large.
		s.outcome = outcome{verb: verb, rest: bytes.Clone(rest[:min(len(rest), s.most)])}
		if verb == "done" {
			s.done = s.outcome.rest
		}
	}
	return err
}

// reply does what a guest asks for and returns what it is to read then.
func (s *session) reply(verb string, rest []byte) ([]byte, error) {
	if len(rest) > maxCallBytes {
		return s.serves.refuse("", "deep", `"the arguments are larger than any may be"`)
	}
	fields := strings.SplitN(string(rest), "\n", maxFields)
	switch verb {
	case "call":
		return s.serves.call(fields[0], fields[1:])
	case "refuse":
		fields = append(fields, "", "")
		return s.serves.refuse(fields[0], fields[1], fields[2])
	case "zone":
		file, ok := zoneFile(quoted([]byte(fields[0]), maxNameBytes))
		if !ok {
			return []byte("none\n"), nil
		}
		return append([]byte("ok\n"), file...), nil
	case "zones":
		return []byte("ok\n" + zoneNames()), nil
	}
	text, ok, err := s.serves.file(quoted([]byte(fields[0]), maxNameBytes))
	if !ok {
		return []byte("none\n"), err
	}
	return []byte("ok\n" + text), nil
}

// printed takes a line of the guest's standard output or error.
func (s *session) printed(stream int, line []byte) error {
	level := abi.LevelInfo
	if stream == wasi.Stderr {
		level = abi.LevelError
	}
	err := s.serves.log(level, cut(line, maxLogBytes))
	if err != nil {
		s.halted = err
	}
	return err
}

func levelOf(name string) abi.Level {
	switch level := abi.Level(name); level {
	case abi.LevelDebug, abi.LevelWarn, abi.LevelError:
		return level
	}
	return abi.LevelInfo
}

// Yield reports whether the guest may go on. It ends with its context.
func (s *session) Yield() bool {
	if s.ctx.Err() != nil {
		s.halted = engine.EndOf(s.ctx)
		return false
	}
	return true
}

// nobody serves a guest that has nothing to ask.
type nobody struct{}

func (nobody) call(string, []string) ([]byte, error)         { return nil, nil }
func (nobody) refuse(string, string, string) ([]byte, error) { return nil, nil }
func (nobody) log(abi.Level, string) error                   { return nil }
func (nobody) warn(string)                                   {}
func (nobody) file(string) (string, bool, error)             { return "", false, nil }
