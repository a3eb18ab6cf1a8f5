package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"sync"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// errHalted replaces the error with which the host ended a run, because that error is not sent
// through the pipe.
var errHalted = errors.New("the host ended the run")

// server is the engine's end of all pipes. server keeps the programs that were loaded.
type server struct {
	engine   engine.Engine
	mu       sync.Mutex
	programs map[int]engine.Program
	loaded   int
}

// serve executes one load or one run.
func (s *server) serve(w *wire) {
	defer w.conn.Close()
	first, err := w.receive()
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := &hostConn{wire: w, replies: make(chan frame, 1)}
	go p.listen(cancel)
	switch first.Kind {
	case kindLoad:
		_ = w.send(s.load(ctx, p, first))
	case kindRun:
		_ = w.send(s.run(ctx, p, first))
	case kindClose:
		_ = w.send(s.close(first.Program))
	}
}

func (s *server) load(ctx context.Context, p *hostConn, f frame) frame {
	src := engine.Source{Path: f.Path, Code: f.Code, Entry: f.Entry, Params: f.Params, Operations: f.Table}
	if f.HasFiles {
		src.Files = remoteFiles{p}
	}
	program, err := s.engine.Load(ctx, src)
	if err != nil {
		return failed(kindLoaded, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded++
	s.programs[s.loaded] = program
	return frame{Kind: kindLoaded, Program: s.loaded}
}

func (s *server) run(ctx context.Context, p *hostConn, f frame) frame {
	s.mu.Lock()
	program := s.programs[f.Program]
	s.mu.Unlock()
	if program == nil || f.Input == nil {
		return frame{Kind: kindOutcome, Broken: "unknown program"}
	}
	out, err := program.Run(ctx, *f.Input, engine.Host{Call: p.call, Log: p.log})
	if err != nil {
		return failed(kindOutcome, err)
	}
	return frame{Kind: kindOutcome, Output: &out}
}

func (s *server) close(id int) frame {
	s.mu.Lock()
	program := s.programs[id]
	delete(s.programs, id)
	s.mu.Unlock()
	if program == nil {
		return frame{Kind: kindReply}
	}
	if err := program.Close(); err != nil {
		return failed(kindReply, err)
	}
	return frame{Kind: kindReply}
}

func failed(k kind, err error) frame {
	if err == errHalted {
		return frame{Kind: k, Halted: true}
	}
	if fault, ok := err.(*abi.Fault); ok {
		return frame{Kind: k, Fault: fault}
	}
	return frame{Kind: k, Broken: err.Error()}
}

// hostConn is a connection to the host. It is the engine's end of this connection.
type hostConn struct {
	wire    *wire
	ask     sync.Mutex // locked while a request waits for its reply
	replies chan frame
}

// listen receives frames from the host. Such a frame is a reply, or the cancellation of the run. If
// the connection ends, listen cancels the run.
func (p *hostConn) listen(cancel context.CancelCauseFunc) {
	defer close(p.replies)
	for {
		f, err := p.wire.receive()
		if err != nil {
			cancel(nil)
			return
		}
		if f.Kind != kindCancel {
			p.replies <- f
			continue
		}
		switch {
		case f.Fault != nil:
			cancel(f.Fault)
		case f.Text == "deadline":
			cancel(context.DeadlineExceeded)
		default:
			cancel(nil)
		}
	}
}

// request sends a frame to the host. request returns the reply of the host.
func (p *hostConn) request(f frame) (frame, error) {
	p.ask.Lock()
	defer p.ask.Unlock()
	if err := p.wire.send(f); err != nil {
		return frame{}, err
	}
	answer, ok := <-p.replies
	if !ok {
		return frame{}, errors.New("the host closed the connection")
	}
	return answer, nil
}

func (p *hostConn) call(_ context.Context, call abi.Call) (json.RawMessage, error) {
	f, err := p.request(frame{Kind: kindCall, Op: call.Op, Args: toWire(call.Args)})
	switch {
	case err != nil:
		return nil, err
	case f.Halted:
		return nil, errHalted
	case f.Fault != nil:
		return nil, f.Fault
	}
	return json.RawMessage(f.Text), nil
}

func (p *hostConn) log(level abi.Level, text string) error {
	f, err := p.request(frame{Kind: kindLog, Level: level, Text: text})
	if err == nil && f.Halted {
		return errHalted
	}
	return err
}

// remoteFiles is a file system that requests each file from the host.
type remoteFiles struct{ conn *hostConn }

func (r remoteFiles) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := r.conn.request(frame{Kind: kindOpen, Path: name})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if f.Missing {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	local := fstest.MapFS{}
	if !f.IsDir {
		local[name] = &fstest.MapFile{Data: f.Data, Mode: 0o444}
	} else if name != "." {
		local[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o555}
	}
	for _, item := range f.Entries {
		file := &fstest.MapFile{Mode: 0o444}
		if item.IsDir {
			file.Mode = fs.ModeDir | 0o555
		}
		local[path.Join(name, item.Name)] = file
	}
	return local.Open(name)
}
