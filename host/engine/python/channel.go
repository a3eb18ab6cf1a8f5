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

// handler handles the requests that a guest makes while it processes a request of the host.
type handler interface {
	// call performs a memory operation.
	call(op string, args []string) ([]byte, error)
	// refuse handles a malformed memory call and raises an error in the guest.
	refuse(op, kind, message string) ([]byte, error)
	log(level abi.Level, text string) error
	// warn records a warning for the author of the tool.
	warn(text string)
	// file reads a file of the tool's folder.
	file(name string) (text string, ok bool, err error)
}

// channel is the connection to one guest. Both the host and the guest send requests and replies
// through the channel. The channel also records how the guest ended. Only the goroutine that calls
// the guest may use the channel.
type channel struct {
	ctx       context.Context
	handler   handler
	system    *wasi.System
	announced func(fields []string)

	requests   []string // the requests that the guest has not read yet
	doing      string   // the verb of the last request that the guest read
	inbox      []byte   // the unread rest of the current request or reply
	full       bool     // true if the last read filled the guest's buffer, so the guest reads again
	ready      []string // the values that the guest reported after its start
	maxOutcome int      // the maximum number of bytes that are kept of an outcome
	over       bool     // the guest must stop

	outcome outcome
	done    []byte // the body of the last "done" outcome
	halted  error  // the reason for which the host stopped the guest
}

// The maximum sizes of a guest's messages. Without a limit, a message could be as large
// as the guest's memory.
const (
	maxVerb      = 16 // exceeds the length of the longest verb and its line feed
	maxFields    = 16 // no call has as many arguments
	maxCallBytes = 3*maxArgumentBytes + 1<<10
)

// outcome is the guest's final message about a request.
type outcome struct {
	verb string // "done", "answer", "unfit" or "error"; "" if there is none
	rest []byte
}

func newChannel(ctx context.Context, handler handler, from machine.Sources) *channel {
	c := &channel{ctx: ctx, handler: handler, maxOutcome: 1 << 20}
	from = from.WithDefaults()
	wall := func() time.Time {
		if c.ready != nil && c.announced != nil { // the guest is waiting in reported code
			c.announced(c.ready)
			c.announced = nil
		}
		return from.Walltime()
	}
	// The error is impossible, because New fails only for invalid arguments, and these arguments
	// are constants.
	c.system, _ = wasi.New(wasi.Config{
		Args:     []string{"python", "-I", "-S", "-B", "-X", "utf8", "-c", bootProgram()},
		Walltime: wall, Nanotime: from.Nanotime, Random: from.Random, Channel: c, Log: c.printed,
	})
	return c
}

// push queues a request.
func (c *channel) push(request string) { c.requests = append(c.requests, request) }

// context returns the context for a call to the guest.
func (c *channel) context() context.Context {
	return machine.With(wasi.With(c.ctx, c.system), c)
}

// ask makes a started interpreter process the next request.
func (c *channel) ask(i *interpreter, in *snapshot.Instance) error {
	c.outcome = outcome{}
	return c.ended(i.call(c.context(), in))
}

// launch starts an interpreter, which then processes all queued requests.
func (c *channel) launch(in *snapshot.Instance) error {
	_, err := in.Guest().ExportedFunction(startExport).Call(c.context())
	return c.ended(err)
}

// ended returns the reason why a call to the guest ended. If the host stopped the guest, the method
// returns the host's reason and not the guest's error.
func (c *channel) ended(err error) error {
	if stopped := c.system.Flush(); c.halted == nil {
		c.halted = stopped
		if stopped != nil && c.ctx.Err() != nil { // ended while the guest slept or printed
			c.halted = engine.FaultFromContext(c.ctx)
		}
	}
	if c.halted != nil {
		return c.halted
	}
	return err
}

// Read copies the unread rest of a message to the guest. If the guest has read the whole message,
// Read continues with the next request.
func (c *channel) Read(p []byte) (int, error) {
	if c.over {
		return 0, machine.ErrStopped
	}
	if len(c.inbox) == 0 && !c.full && len(c.requests) > 0 && c.outcome.verb != "error" {
		c.inbox, c.requests = []byte(c.requests[0]), c.requests[1:]
		c.doing, _, _ = strings.Cut(string(c.inbox[:min(len(c.inbox), maxVerb)]), "\n")
	}
	n := copy(p, c.inbox)
	c.inbox = c.inbox[n:]
	c.full = n == len(p)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write handles a message from the guest. A guest can write arbitrary bytes. Write ignores unknown
// messages. If Write returns an error, the guest ends.
func (c *channel) Write(message []byte) (int, error) {
	if c.ctx.Err() != nil {
		c.halted = engine.FaultFromContext(c.ctx)
		return 0, c.halted
	}
	verb, rest, _ := bytes.Cut(message, []byte{'\n'})
	if err := c.handle(string(verb[:min(len(verb), maxVerb)]), rest); err != nil {
		c.halted = err
		return 0, err
	}
	return len(message), nil
}

func (c *channel) handle(verb string, rest []byte) (err error) {
	switch verb {
	case "call", "refuse", "file", "zone", "zones":
		c.full = false
		c.inbox, err = c.reply(verb, rest)
	case "log":
		level, text, _ := bytes.Cut(rest, []byte{'\n'})
		return c.handler.log(levelOf(string(level[:min(len(level), maxVerb)])), quoted(text, maxLogBytes))
	case "warn":
		c.handler.warn(quoted(rest, maxMessageBytes))
	case "ready":
		c.ready = strings.Split(string(rest[:min(len(rest), maxNameBytes)]), "\n")
	case "done", "answer", "unfit", "error":
		// The message exceeds the limit and is truncated here. The run later rejects the truncated
		// message.
		c.outcome = outcome{verb: verb, rest: bytes.Clone(rest[:min(len(rest), c.maxOutcome)])}
		if verb == "done" {
			c.done = c.outcome.rest
		}
	}
	return err
}

// reply handles a request of the guest and returns the reply.
func (c *channel) reply(verb string, rest []byte) ([]byte, error) {
	if len(rest) > maxCallBytes {
		return c.handler.refuse("", "deep", `"the arguments are too large"`)
	}
	fields := strings.SplitN(string(rest), "\n", maxFields)
	switch verb {
	case "call":
		return c.handler.call(fields[0], fields[1:])
	case "refuse":
		fields = append(fields, "", "")
		return c.handler.refuse(fields[0], fields[1], fields[2])
	case "zone":
		file, ok := zoneFile(quoted([]byte(fields[0]), maxNameBytes))
		if !ok {
			return []byte("none\n"), nil
		}
		return append([]byte("ok\n"), file...), nil
	case "zones":
		return []byte("ok\n" + zoneNames()), nil
	}
	text, ok, err := c.handler.file(quoted([]byte(fields[0]), maxNameBytes))
	if !ok {
		return []byte("none\n"), err
	}
	return []byte("ok\n" + text), nil
}

// printed logs a line that the guest wrote to its standard output or standard error.
func (c *channel) printed(stream int, line []byte) error {
	level := abi.LevelInfo
	if stream == wasi.Stderr {
		level = abi.LevelError
	}
	err := c.handler.log(level, cut(line, maxLogBytes))
	if err != nil {
		c.halted = err
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

// Yield reports whether the guest can continue. If the guest's context has ended, the guest cannot
// continue.
func (c *channel) Yield() bool {
	if c.ctx.Err() != nil {
		c.halted = engine.FaultFromContext(c.ctx)
		return false
	}
	return true
}

// noHandler is the handler for a guest that makes no requests.
type noHandler struct{}

func (noHandler) call(string, []string) ([]byte, error)         { return nil, nil }
func (noHandler) refuse(string, string, string) ([]byte, error) { return nil, nil }
func (noHandler) log(abi.Level, string) error                   { return nil }
func (noHandler) warn(string)                                   {}
func (noHandler) file(string) (string, bool, error)             { return "", false, nil }
