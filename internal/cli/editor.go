package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// lineEditor reads lines from a terminal. Until the lineEditor is closed, the terminal is in raw
// mode. The console writes its output through the editor, so that output does not mix with the
// edited line.
type lineEditor struct {
	out      *console
	streams  Env // the streams that the console used before the editor was opened
	fd       int
	cooked   *term.State
	terminal *term.Terminal
	keys     *keyboard
}

var _ lineReader = (*lineEditor)(nil)

// openEditor returns an editor on a terminal.
func openEditor(ctx context.Context, out *console, stdin *os.File) (*lineEditor, error) {
	e := &lineEditor{out: out, streams: out.env, fd: int(stdin.Fd())}
	var err error
	if e.cooked, err = term.MakeRaw(e.fd); err != nil {
		return nil, fmt.Errorf("set the mode of the terminal: %w", err)
	}
	e.keys = &keyboard{arrived: make(chan struct{}, 1), ended: ctx.Done(), resize: e.resize}
	go e.keys.pump(stdin)
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out.env.Stdout}, out.paint(true, dim, "> "))
	e.resize()
	out.env.Stdout = e.terminal
	if out.env.StderrTerminal {
		out.env.Stderr = e.terminal
	}
	return e, nil
}

// resize adjusts the editor to the size of the terminal.
func (e *lineEditor) resize() {
	if width, height, err := term.GetSize(e.fd); err == nil && width > 0 && height > 0 {
		_ = e.terminal.SetSize(width, height) // fails only if the terminal is closed
	}
}

// ReadLine returns the next line.
func (e *lineEditor) ReadLine(ctx context.Context) (string, error) {
	line, err := e.terminal.ReadLine()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return line, err
}

// during calls the function "work". If the user presses Ctrl-C, during cancels the context of the
// function "work".
func (e *lineEditor) during(ctx context.Context, work func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.keys.onInterrupt(cancel)
	defer e.keys.onInterrupt(nil)
	work(ctx)
}

// Close restores the mode of the terminal and the streams of the console.
func (e *lineEditor) Close() error {
	e.out.env.Stdout, e.out.env.Stderr = e.streams.Stdout, e.streams.Stderr
	_, _ = io.WriteString(e.out.env.Stdout, "\r\x1b[K") // removes the prompt
	return term.Restore(e.fd, e.cooked)
}

// maxTyped is the maximum number of typed bytes that the keyboard buffers until the program reads
// them.
const maxTyped = 64 << 10

const ctrlC = 3

// keyboard reads keys from a terminal in raw mode. A keyboard detects Ctrl-C even if the program
// has not read the previous keys yet.
type keyboard struct {
	arrived chan struct{}   // the channel contains an element if there may be new keys
	ended   <-chan struct{} // closed when the command ends
	resize  func()

	mu        sync.Mutex
	typed     []byte
	closed    bool
	interrupt func() // called if the user presses Ctrl-C; can be nil
}

// pump reads keys until the terminal is closed.
func (k *keyboard) pump(from io.Reader) {
	buf := make([]byte, 1024)
	for {
		n, err := from.Read(buf)
		k.add(buf[:n], err != nil)
		select {
		case k.arrived <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (k *keyboard) add(keys []byte, last bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = last
	if at := bytes.IndexByte(keys, ctrlC); at >= 0 && k.interrupt != nil {
		k.interrupt()
		k.typed, keys = nil, keys[at+1:]
	}
	if len(k.typed)+len(keys) <= maxTyped {
		k.typed = append(k.typed, keys...)
	}
}

// onInterrupt sets the function that is called if the user presses Ctrl-C. If no function is set,
// Ctrl-C ends the current Read.
func (k *keyboard) onInterrupt(call func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.interrupt = call
}

// clearLine contains the keys that move the cursor to the end of a line and delete the line.
const clearLine = "\x05\x15"

// Read returns the next keys. If the user has pressed Ctrl-C, Read returns clearLine and the error
// errInterrupted.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		k.resize()
		if n, err := k.take(p); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-k.arrived:
		case <-k.ended:
			return 0, io.EOF
		}
	}
}

func (k *keyboard) take(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := k.typed
	switch at := bytes.IndexByte(keys, ctrlC); {
	case at == 0:
		k.typed = keys[1:]
		return copy(p, clearLine), errInterrupted
	case at > 0:
		keys = keys[:at]
	case len(keys) == 0 && k.closed:
		return 0, io.EOF
	}
	n := copy(p, keys)
	k.typed = k.typed[n:]
	return n, nil
}
