package double

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
)

// These are the limits of a process.
const (
	maxLine      = 8 << 20 // the maximum size of a request in bytes
	maxInstances = 1000    // memories
	maxRuns      = 64      // the maximum number of open runs in one memory
	maxTools     = 64      // the maximum number of tools that requests declare in one memory
	maxDump      = 1000    // records in one reply
	maxDumpBytes = 64 << 20
)

// Config is the configuration of Serve. With the zero value of Config, apps come only from
// requests, and the clock is the system clock.
type Config struct {
	// Load reads an app file. The returned function release is called when the app is no longer
	// used. By default, app files cannot be read.
	Load func(file string) (a *app.App, release func(), err error)
	// App is the app of the memory that is open at the start. The default is an app without stores.
	App *app.App
	// Now is the clock of memories whose clock is not set. Default: time.Now.
	Now func() time.Time
	// Logger receives errors that replies do not contain. By default, errors that replies do not
	// contain are discarded.
	Logger *slog.Logger
}

// Serve handles requests in order until the input or ctx ends. Runs that are still open when Serve
// ends store nothing. Serve returns the first error of reading from in or writing to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, cfg Config) error {
	s, err := newServer(cfg)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, failed := readLines(ctx, in)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return <-failed
			}
			if err := s.write(out, s.answer(ctx, line)); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// server is the state of Serve. Only one goroutine uses the server.
type server struct {
	cfg       Config
	gate      *admission.Gate
	handlers  map[string]handler
	instances map[string]*instance
}

func newServer(cfg Config) (*server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.App == nil {
		cfg.App = &app.App{ID: "test", SessionIdle: app.DefaultSessionIdle, WorkflowIdle: app.DefaultWorkflowIdle}
	}
	if cfg.Load == nil {
		cfg.Load = func(string) (*app.App, func(), error) {
			return nil, nil, abi.Faultf(abi.InvalidArgument, "the test double cannot read app files")
		}
	}
	const all = 1 << 30 // runs wait for their client, but not for each other
	gate, err := admission.New(admission.Limits{Running: all, PerTenant: all, PerApp: all, PerUser: all})
	if err != nil {
		return nil, err
	}
	s := &server{cfg: cfg, gate: gate, handlers: handlers(), instances: map[string]*instance{}}
	s.instances[""] = s.newInstance(&declaration{app: cfg.App, release: func() {}}, limits{})
	return s, nil
}

func (s *server) close() {
	for _, i := range s.instances {
		i.close()
	}
}

// reply is the reply to a request.
type reply struct {
	ID     json.RawMessage `json:"id,omitempty"`
	OK     bool            `json:"ok"`
	Result any             `json:"result,omitempty"`
	Error  *abi.Fault      `json:"error,omitempty"`
}

func (s *server) write(out io.Writer, r reply) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // Encode ends the line
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		s.cfg.Logger.Error("cannot encode a reply as JSON", "error", err)
		b.Reset()
		failed := reply{ID: r.ID, Error: abi.Faultf(abi.Internal, "cannot encode the reply as JSON")}
		if err := enc.Encode(failed); err != nil {
			return err
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}

// line is a request, or the error of a failed read.
type line struct {
	text    []byte
	tooLong bool
}

// readLines reads lines until the input or ctx ends. readLines then closes the channel "lines" and
// sends the error of the input to the channel "failed".
func readLines(ctx context.Context, in io.Reader) (<-chan line, <-chan error) {
	lines, failed := make(chan line), make(chan error, 1)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, err := readLine(r)
			if len(l.text) > 0 || l.tooLong {
				select {
				case lines <- l:
				case <-ctx.Done():
					failed <- nil
					return
				}
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				failed <- err
				return
			}
		}
	}()
	return lines, failed
}

// readLine reads a line. readLine discards the bytes that exceed maxLine.
func readLine(r *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if len(l.text)+len(part) > maxLine {
			l.tooLong, l.text = true, nil
		}
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.text = bytes.TrimSpace(l.text)
			return l, err
		}
	}
}
