package mcpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the maximum length of a message. As in the HTTP API, a message can contain the input
// and the context of a run.
const maxLine = 4 << 20

// lineTransport is a transport for JSON-RPC messages with one message per line. If a line is
// invalid, lineTransport responds with an error and continues, because the client may be a person
// at a terminal. The transport of the SDK would stop at an invalid line.
type lineTransport struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading.
func (l lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: l.out, incoming: make(chan line), closed: make(chan struct{})}
	go c.readLines(l.in)
	return c, nil
}

type lineConn struct {
	incoming chan line

	writing sync.Mutex
	out     io.Writer

	closed    chan struct{}
	closeOnce sync.Once
}

// line is the result of one read: a complete line, an overlong line, or a final error.
type line struct {
	text []byte
	long bool
	err  error
}

func (c *lineConn) readLines(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		next := readLine(r)
		select {
		case c.incoming <- next:
		case <-c.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

// readLine reads a line. readLine discards the content of a line that is too long. The last line
// may lack a line terminator.
func readLine(r *bufio.Reader) (next line) {
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case next.long:
		case len(next.text)+len(part) > maxLine:
			next = line{long: true}
		default:
			next.text = append(next.text, part...)
		}
		switch {
		case err == nil:
			return next
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (next.long || len(bytes.TrimSpace(next.text)) > 0):
			return next // the next read returns io.EOF
		default:
			return line{err: err}
		}
	}
}

// Read returns the next valid message. If a line is invalid, Read sends an error response and reads
// the next line.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case next := <-c.incoming:
			if next.err != nil {
				return nil, next.err
			}
			message, refused := decodeLine(next)
			if refused != nil {
				if err := c.writeLine(refused); err != nil {
					return nil, err
				}
			}
			if message != nil {
				return message, nil
			}
		}
	}
}

// decodeLine returns the message in a line, or an error response if the line is invalid. For an
// empty line, decodeLine returns neither a message nor a response.
func decodeLine(next line) (message jsonrpc.Message, refused []byte) {
	text := bytes.TrimSpace(next.text)
	switch {
	case next.long:
		return nil, errorResponse(nil, jsonrpc.CodeInvalidRequest, "the message exceeds 4 MiB")
	case len(text) == 0:
		return nil, nil
	case !json.Valid(text):
		return nil, errorResponse(nil, jsonrpc.CodeParseError, "the line is not valid JSON; send each message as one line")
	case text[0] == '[':
		return nil, errorResponse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per line")
	}
	message, err := jsonrpc.DecodeMessage(text)
	if response, ok := message.(*jsonrpc.Response); ok && response.Result == nil && response.Error == nil {
		err = errNoMethod
	}
	if err != nil {
		return nil, errorResponse(idOf(text), jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message: "+err.Error())
	}
	return message, nil
}

var errNoMethod = errors.New("method, result and error are missing")

// idOf returns the id of an invalid message, or nil if the id is missing or invalid.
func idOf(text []byte) json.RawMessage {
	var object struct{ ID any }
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	switch object.ID.(type) {
	case string, float64:
		id, _ := json.Marshal(object.ID) // cannot fail, because the value came from JSON
		return id
	}
	return nil
}

// errorResponse returns a JSON-RPC error response. If the argument "id" is nil, the id in the
// response is null.
func errorResponse(id json.RawMessage, code int64, text string) []byte {
	answer, _ := json.Marshal(struct { // cannot fail for these types
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: text}})
	return answer
}

// Write writes a message.
func (c *lineConn) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	return c.writeLine(text)
}

func (c *lineConn) writeLine(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// Close closes the connection. A pending read of the input may continue after Close returns.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "", because this transport has only one session.
func (c *lineConn) SessionID() string { return "" }
