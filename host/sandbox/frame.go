package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// kind says what a frame is, and so which fields it has.
type kind byte

// The frames. Who sends one is in the comment; a frame that does not belong where it comes ends the
// exchange.
const (
	kindHandshake kind = iota + 1 // host: how the worker is to be; worker: that it is, and how
	kindLoad                      // host: compile a source
	kindOpen                      // worker: asks for a file of the source
	kindFile                      // host: answers with the file
	kindLoaded                    // worker: the source is compiled, or why not
	kindRun                       // host: run a program
	kindCall                      // worker: a memory call of the guest's
	kindReply                     // host: what the call answered
	kindLog                       // worker: a log line; it has no answer
	kindOutcome                   // worker: what came of the run
	kindPrepare                   // host: make what the language of the outfit shares; it is answered as a load is
	kindCount     = iota
)

// version is that of the frames. Both ends are to have the same.
const version = 3

// sizes are the largest payloads that an end takes in at a time, by kind; 0 for what does not belong there.
type sizes [kindCount + 1]int

// headBytes is the size of a frame's head: the length of the payload, little endian, and the kind.
const headBytes = 5

// keptBytes is up to how large a buffer is kept for the next frame.
const maxReusedBytes = 64 << 10

// wire reads and writes frames. It is used by one goroutine at a time.
type wire struct {
	in       *bufio.Reader
	out      io.Writer
	writing  frame
	received fields
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: bufio.NewReaderSize(in, 16<<10), out: out}
}

// errForeign is in the error of a frame that no honest end sends.
var errProtocol = errors.New("not what this protocol says")

// receive reads a frame. Its length is held against the largest of its kind before anything is allocated. The
// payload is the caller's, the fields are good until the next frame.
func (w *wire) receive(limit *sizes) (kind, *fields, error) {
	head, err := w.in.Peek(headBytes)
	if err != nil {
		return 0, nil, err
	}
	length, k := binary.LittleEndian.Uint32(head), kind(head[4])
	if k == 0 || k > kindCount || limit[k] == 0 {
		return 0, nil, fmt.Errorf("a frame of kind %d: %w", k, errProtocol)
	}
	if uint64(length) > uint64(limit[k]) {
		return 0, nil, fmt.Errorf("a frame of kind %d with %d bytes, more than %d: %w", k, length, limit[k], errProtocol)
	}
	_, _ = w.in.Discard(headBytes) // they were peeked at
	payload := make([]byte, length)
	if _, err := io.ReadFull(w.in, payload); err != nil {
		return 0, nil, err
	}
	w.received = fields{rest: payload}
	return k, &w.received, nil
}

// frame begins a frame, in the buffer of the one before.
func (w *wire) frame(k kind) *frame {
	w.writing.bytes = append(w.writing.bytes[:0], 0, 0, 0, 0, byte(k))
	return &w.writing
}

// send writes a frame at once.
func (w *wire) send(f *frame) error {
	message := f.bytes
	if cap(message) > maxReusedBytes {
		f.bytes = nil
	}
	if uint64(len(message)-headBytes) > math.MaxUint32 {
		return errors.New("a frame is larger than its head can say")
	}
	binary.LittleEndian.PutUint32(message, uint32(len(message)-headBytes))
	_, err := w.out.Write(message)
	return err
}

// frame is one that is being written: fields one after the other, numbers as varints and bytes after their length.
type frame struct{ bytes []byte }

func (f *frame) number(n uint64) *frame {
	f.bytes = binary.AppendUvarint(f.bytes, n)
	return f
}

func (f *frame) data(data []byte) *frame {
	f.number(uint64(len(data)))
	f.bytes = append(f.bytes, data...)
	return f
}

func (f *frame) text(text string) *frame {
	f.number(uint64(len(text)))
	f.bytes = append(f.bytes, text...)
	return f
}

// optional writes data that may be absent, which is something else than empty.
func (f *frame) optional(data []byte) *frame {
	if data == nil {
		return f.number(0)
	}
	f.number(uint64(len(data)) + 1)
	f.bytes = append(f.bytes, data...)
	return f
}

func (f *frame) texts(list []string) *frame {
	f.number(uint64(len(list)))
	for _, text := range list {
		f.text(text)
	}
	return f
}

// fields reads what frame wrote. After a mistake every field is empty and end tells of it, so that a reader need
// not ask at each one.
type fields struct {
	rest      []byte
	malformed bool
}

func (f *fields) number() uint64 {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 {
		f.rest, f.malformed = nil, true
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

// count reads a number that is to fit into an int and be no more than most.
func (f *fields) count(limit int) int {
	n := f.number()
	if n > uint64(limit) {
		f.rest, f.malformed = nil, true
		return 0
	}
	return int(n)
}

// amount reads a number that is to fit into an int64.
func (f *fields) amount() int64 {
	n := f.number()
	if n > math.MaxInt64 {
		f.rest, f.malformed = nil, true
		return 0
	}
	return int64(n)
}

// take returns the next n bytes, which are a part of the payload.
func (f *fields) take(n uint64) []byte {
	if n > uint64(len(f.rest)) {
		f.rest, f.malformed = nil, true
		return nil
	}
	taken := f.rest[:n:n]
	f.rest = f.rest[n:]
	return taken
}

func (f *fields) data() []byte { return f.take(f.number()) }

func (f *fields) text() string { return string(f.data()) }

func (f *fields) optional() []byte {
	n := f.number()
	if n == 0 {
		return nil
	}
	return f.take(n - 1)
}

// texts reads a list of at most so many.
func (f *fields) texts(limit int) []string {
	// A text takes a byte at least: what is left bounds the list, whatever its length claims.
	n := f.count(min(limit, len(f.rest)))
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = f.text()
	}
	return list
}

// end reports a payload that was not what its reader took it for.
func (f *fields) end() error {
	if f.malformed || len(f.rest) > 0 {
		return fmt.Errorf("the fields of a frame: %w", errProtocol)
	}
	return nil
}
