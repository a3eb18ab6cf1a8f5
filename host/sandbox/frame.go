package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// kind is the type of a frame. The kind of a frame determines its fields.
type kind byte

// These constants are the kinds of frames. The comments name the sender of each kind. If a frame is
// not expected, the exchange ends.
const (
	kindHandshake kind = iota + 1 // host: configures the worker; worker: reports its layers
	kindLoad                      // host: compile a source
	kindOpen                      // worker: a request for a file of the source
	kindFile                      // host: the requested file
	kindLoaded                    // worker: the source was compiled or has an error
	kindRun                       // host: run a program
	kindCall                      // worker: a memory call of the guest
	kindReply                     // host: the reply to the memory call
	kindLog                       // worker: a log line; the host does not reply
	kindOutcome                   // worker: the result of the run
	kindPrepare                   // host: prepare shared state; the reply is a kindLoaded frame
	kindBegin                     // worker: begin an external operation; the host sends no reply
	kindWait                      // worker: the guest waits for an external operation
	kindDone                      // host: the answer to an external operation, or a timeout
	kindCount     = iota
)

// version is the version of the protocol. The parent and the worker must use equal versions.
const version = 4

// sizes contains the maximum payload size for each kind of frame. If the maximum size of a kind is
// 0, frames of this kind are rejected.
type sizes [kindCount + 1]int

// headBytes is the number of bytes in the head of a frame. The head contains the payload length in
// little endian, followed by the kind.
const headBytes = 5

// maxReusedBytes limits the size of a buffer that is reused for the next frame.
const maxReusedBytes = 64 << 10

// wire reads and writes frames. A wire is not safe for concurrent use.
type wire struct {
	in       *bufio.Reader
	out      io.Writer
	writing  frame
	received fields
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: bufio.NewReaderSize(in, 16<<10), out: out}
}

// errProtocol is the error that all errors about invalid frames wrap.
var errProtocol = errors.New("protocol violation")

// receive reads a frame. receive checks the length of the payload before it allocates memory. The
// kind of the frame determines the maximum length. The caller becomes the owner of the payload. The
// returned fields become invalid when the next frame is read.
func (w *wire) receive(limit *sizes) (kind, *fields, error) {
	head, err := w.in.Peek(headBytes)
	if err != nil {
		return 0, nil, err
	}
	length, k := binary.LittleEndian.Uint32(head), kind(head[4])
	if k == 0 || k > kindCount || limit[k] == 0 {
		return 0, nil, fmt.Errorf("frame of kind %d: %w", k, errProtocol)
	}
	if uint64(length) > uint64(limit[k]) {
		return 0, nil, fmt.Errorf("frame of kind %d has %d bytes; the limit is %d: %w", k, length, limit[k], errProtocol)
	}
	_, _ = w.in.Discard(headBytes) // after Peek, Discard cannot fail
	payload := make([]byte, length)
	if _, err := io.ReadFull(w.in, payload); err != nil {
		return 0, nil, err
	}
	w.received = fields{rest: payload}
	return k, &w.received, nil
}

// frame starts a new frame. frame reuses the buffer of the previous frame.
func (w *wire) frame(k kind) *frame {
	w.writing.bytes = append(w.writing.bytes[:0], 0, 0, 0, 0, byte(k))
	return &w.writing
}

// send writes a frame. send calls Write only once.
func (w *wire) send(f *frame) error {
	message := f.bytes
	if cap(message) > maxReusedBytes {
		f.bytes = nil
	}
	if uint64(len(message)-headBytes) > math.MaxUint32 {
		return errors.New("the frame exceeds 4 GiB")
	}
	binary.LittleEndian.PutUint32(message, uint32(len(message)-headBytes))
	_, err := w.out.Write(message)
	return err
}

// frame is a frame that is being built. Numbers are encoded as varints. Each byte slice follows its
// length.
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

// optional writes a byte slice. The reader can distinguish a nil slice from an empty slice.
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

// fields reads the fields of a frame. After an error, all further fields are empty, and the method
// "end" returns the error. Therefore callers check for errors only once, after the last field.
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

// count reads a number. The number must not exceed the argument "limit".
func (f *fields) count(limit int) int {
	n := f.number()
	if n > uint64(limit) {
		f.rest, f.malformed = nil, true
		return 0
	}
	return int(n)
}

// amount reads a number. The number must fit into an int64.
func (f *fields) amount() int64 {
	n := f.number()
	if n > math.MaxInt64 {
		f.rest, f.malformed = nil, true
		return 0
	}
	return int64(n)
}

// take returns the next n bytes. The result shares the memory of the payload.
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

// texts reads a list of strings. The list can contain at most "limit" strings.
func (f *fields) texts(limit int) []string {
	// The encoding of each string needs at least one byte. Therefore the size of the remaining
	// payload limits the number of strings, even if the encoded number is larger.
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

// end returns an error if the payload was malformed, or if some bytes of the payload were not read.
func (f *fields) end() error {
	if f.malformed || len(f.rest) > 0 {
		return fmt.Errorf("malformed frame fields: %w", errProtocol)
	}
	return nil
}
