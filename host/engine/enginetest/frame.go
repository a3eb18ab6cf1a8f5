package enginetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// frame is one message that is sent through a pipe. The kind of a frame determines which of the
// fields it uses.
type frame struct {
	Kind kind `json:"kind"`

	// If the kind is "load" or "loaded", the frame uses the fields below.
	Path     string    `json:"path,omitempty"`
	Code     []byte    `json:"code,omitempty"`
	Entry    string    `json:"entry,omitempty"`
	Params   []string  `json:"params,omitempty"`
	HasFiles bool      `json:"has_files,omitempty"`
	Table    abi.Table `json:"table,omitempty"`
	Program  int       `json:"program,omitempty"`

	// If the kind is "open", the frame requests the file whose path is in the field "Path". The
	// reply to such a frame has the kind "file", and uses the fields below.
	Data    []byte  `json:"data,omitempty"`
	Entries []entry `json:"entries,omitempty"`
	IsDir   bool    `json:"is_dir,omitempty"`
	Missing bool    `json:"missing,omitempty"`

	// If the kind is "run" or "outcome", the frame uses the fields below.
	Input  *engine.Input  `json:"input,omitempty"`
	Output *engine.Output `json:"output,omitempty"`

	// If the kind is "call", "log", "reply" or "cancel", the frame uses the fields below. Other
	// kinds also use them to report a failure.
	Op     string     `json:"op,omitempty"`
	Args   []*string  `json:"args,omitempty"` // if an argument is absent, its element is nil
	Level  abi.Level  `json:"level,omitempty"`
	Text   string     `json:"text,omitempty"`
	Fault  *abi.Fault `json:"fault,omitempty"`
	Halted bool       `json:"halted,omitempty"` // the host has ended the run
	Broken string     `json:"broken,omitempty"` // any other error
}

type entry struct {
	Name  string `json:"name"`
	IsDir bool   `json:"is_dir,omitempty"`
}

type kind string

const (
	kindLoad    kind = "load"
	kindLoaded  kind = "loaded"
	kindOpen    kind = "open"
	kindFile    kind = "file"
	kindRun     kind = "run"
	kindCall    kind = "call"
	kindLog     kind = "log"
	kindReply   kind = "reply"
	kindCancel  kind = "cancel"
	kindOutcome kind = "outcome"
	kindClose   kind = "close"
)

// maxFrameBytes limits the memory that is allocated for a frame from the other end of a pipe.
const maxFrameBytes = 64 << 20

// wire reads and writes frames. A frame begins with its length, which is a big-endian number of
// four bytes. The length is followed by this number of bytes of JSON. Several goroutines can write
// at the same time. Only one goroutine can read.
type wire struct {
	conn  io.ReadWriteCloser
	write sync.Mutex
}

func (w *wire) send(f frame) error {
	var text bytes.Buffer
	text.Write(make([]byte, 4))
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	message := text.Bytes()
	binary.BigEndian.PutUint32(message, uint32(len(message)-4))
	w.write.Lock()
	defer w.write.Unlock()
	_, err := w.conn.Write(message)
	return err
}

func (w *wire) receive() (f frame, err error) {
	var head [4]byte
	if _, err := io.ReadFull(w.conn, head[:]); err != nil {
		return f, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrameBytes {
		return f, fmt.Errorf("a frame of %d bytes is too large", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(w.conn, text); err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read a frame: %w", err)
	}
	return f, nil
}

func toWire(args []json.RawMessage) []*string {
	texts := make([]*string, len(args))
	for i, arg := range args {
		if arg != nil {
			text := string(arg)
			texts[i] = &text
		}
	}
	return texts
}

func fromWire(texts []*string) []json.RawMessage {
	args := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		if text != nil {
			args[i] = json.RawMessage(*text)
		}
	}
	return args
}
