package cli

import (
	"bufio"
	"context"
	"io"

	"github.com/toolrun/toolrun/abi"
)

// maxLine is the maximum length of a line in a chat, in bytes.
const maxLine = 1 << 20

// lineScanner reads the lines of a stream, without an editor for lines.
type lineScanner struct {
	lines  chan string
	failed error // the error of the stream; set before the channel "lines" is closed
	closed chan struct{}
}

var _ lineReader = (*lineScanner)(nil)

// newLineScanner returns a lineScanner for a stream. A goroutine reads the stream, because a read
// cannot be canceled.
func newLineScanner(from io.Reader) *lineScanner {
	s := &lineScanner{lines: make(chan string), closed: make(chan struct{})}
	go s.read(from)
	return s
}

func (s *lineScanner) read(from io.Reader) {
	defer close(s.lines)
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		select {
		case s.lines <- scanner.Text():
		case <-s.closed:
			return
		}
	}
	s.failed = scanner.Err()
	if s.failed == bufio.ErrTooLong {
		s.failed = abi.Faultf(abi.TooLarge, "a line of the input is longer than 1 MiB")
	}
}

// ReadLine returns the next line.
func (s *lineScanner) ReadLine(ctx context.Context) (string, error) {
	select {
	case line, ok := <-s.lines:
		if ok {
			return line, nil
		}
		if s.failed != nil {
			return "", s.failed
		}
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// during calls the function "work". If the user presses Ctrl-C, the whole command ends.
func (s *lineScanner) during(ctx context.Context, work func(context.Context)) { work(ctx) }

// Close stops reading.
func (s *lineScanner) Close() error {
	close(s.closed)
	return nil
}
