package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Pipe returns an Engine that sends each request through a pipe. At the other end of the pipe, the
// request is executed by the engine e. Source, input, calls, logs and outcome are sent through the
// pipe as JSON frames. There is a new pipe for each load and each run.
func Pipe(e engine.Engine) engine.Engine {
	return &piped{info: e.Info(), server: &server{engine: e, programs: make(map[int]engine.Program)}}
}

type piped struct {
	info   engine.Info
	server *server
}

func (p *piped) Info() engine.Info { return p.info }

// dial creates a pipe and starts its other end. The other end executes one load or one run.
func (p *piped) dial() *wire {
	near, far := net.Pipe()
	go p.server.serve(&wire{conn: far})
	return &wire{conn: near}
}

func (p *piped) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	w := p.dial()
	defer w.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = w.send(cancelFrame(ctx)) })
	defer stop()
	err := w.send(frame{Kind: kindLoad, Path: src.Path, Code: src.Code, Entry: src.Entry, Params: src.Params, HasFiles: src.Files != nil, Table: src.Operations})
	if err != nil {
		return nil, err
	}
	for {
		f, err := w.receive()
		switch {
		case err != nil:
			return nil, err
		case f.Kind == kindOpen:
			err = w.send(openFile(src.Files, f.Path))
		case f.Fault != nil:
			return nil, f.Fault
		case f.Broken != "":
			return nil, errors.New(f.Broken)
		case f.Kind == kindLoaded:
			return &pipedProgram{pipe: p, id: f.Program}, nil
		default:
			err = fmt.Errorf("unexpected frame %q", f.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
}

// openFile opens a file or a folder. openFile returns the content of the file, or the entries of
// the folder.
func openFile(files fs.FS, name string) frame {
	info, err := fs.Stat(files, name)
	if err != nil {
		return frame{Kind: kindFile, Missing: true}
	}
	if !info.IsDir() {
		data, err := fs.ReadFile(files, name)
		return frame{Kind: kindFile, Data: data, Missing: err != nil}
	}
	list, err := fs.ReadDir(files, name)
	if err != nil {
		return frame{Kind: kindFile, Missing: true}
	}
	f := frame{Kind: kindFile, IsDir: true}
	for _, item := range list {
		f.Entries = append(f.Entries, entry{Name: item.Name(), IsDir: item.IsDir()})
	}
	return f
}

// cancelFrame returns a frame that contains the reason why ctx ended. If the reason is neither a
// fault nor an exceeded deadline, the frame omits it.
func cancelFrame(ctx context.Context) frame {
	cause := context.Cause(ctx)
	if fault, ok := cause.(*abi.Fault); ok {
		return frame{Kind: kindCancel, Fault: fault}
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return frame{Kind: kindCancel, Text: "deadline"}
	}
	return frame{Kind: kindCancel}
}

type pipedProgram struct {
	pipe  *piped
	id    int
	close sync.Once
}

func (p *pipedProgram) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	w := p.pipe.dial()
	defer w.conn.Close()
	in.Input, in.Context = orObject(in.Input), orObject(in.Context)
	if err := w.send(frame{Kind: kindRun, Program: p.id, Input: &in}); err != nil {
		return engine.Output{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = w.send(cancelFrame(ctx)) })
	defer stop()
	r := &pipedRun{ctx: ctx, wire: w, host: host, issued: make(map[string]*abi.Fault)}
	return r.serve()
}

// orObject returns a document. For an absent document, it returns an empty object, because a frame
// would contain null instead.
func orObject(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}

func (p *pipedProgram) Close() error {
	p.close.Do(func() {
		w := p.pipe.dial()
		defer w.conn.Close()
		if w.send(frame{Kind: kindClose, Program: p.id}) == nil {
			_, _ = w.receive()
		}
	})
	return nil
}

// pipedRun is a run through a pipe. pipedRun contains the state at the host's end of the pipe.
type pipedRun struct {
	ctx    context.Context
	wire   *wire
	host   engine.Host
	issued map[string]*abi.Fault // the faults that the guest has received; the keys are their IDs
	halted error
}

func (r *pipedRun) serve() (engine.Output, error) {
	for {
		f, err := r.wire.receive()
		if err != nil {
			return engine.Output{}, err
		}
		switch f.Kind {
		case kindCall:
			err = r.wire.send(r.call(f))
		case kindLog:
			err = r.wire.send(r.log(f))
		case kindOutcome:
			return r.outcome(f)
		default:
			err = fmt.Errorf("unexpected frame %q", f.Kind)
		}
		if err != nil {
			return engine.Output{}, err
		}
	}
}

func (r *pipedRun) call(f frame) frame {
	reply, err := r.host.Call(r.ctx, abi.Call{Op: f.Op, Args: fromWire(f.Args)})
	if err == nil {
		return frame{Kind: kindReply, Text: string(reply)}
	}
	fault, ok := err.(*abi.Fault)
	if !ok {
		r.halted = err
		return frame{Kind: kindReply, Halted: true}
	}
	sent := *fault
	if sent.ID == "" {
		sent.ID = "pipe " + strconv.Itoa(len(r.issued))
	}
	r.issued[sent.ID] = fault
	return frame{Kind: kindReply, Fault: &sent}
}

func (r *pipedRun) log(f frame) frame {
	if r.halted = r.host.Log(f.Level, f.Text); r.halted != nil {
		return frame{Kind: kindReply, Halted: true}
	}
	return frame{Kind: kindReply}
}

func (r *pipedRun) outcome(f frame) (engine.Output, error) {
	switch {
	case f.Halted && r.halted != nil:
		return engine.Output{}, r.halted
	case f.Fault != nil:
		return engine.Output{}, r.issuedFault(f.Fault)
	case f.Broken != "":
		return engine.Output{}, errors.New(f.Broken)
	case f.Output == nil:
		return engine.Output{}, errors.New("an outcome has neither output nor fault")
	}
	out := *f.Output
	if string(out.Context) == "null" {
		out.Context = nil // if a context is absent, it is null in a frame
	}
	return out, nil
}

// issuedFault returns the fault that the host issued with the ID of the received fault. If there is
// none, it returns the received fault. The other end of the pipe can add a position and a hint to
// the host's fault, but nothing else.
func (r *pipedRun) issuedFault(received *abi.Fault) *abi.Fault {
	issued, ok := r.issued[received.ID]
	if !ok {
		return received
	}
	fault := *issued
	fault.File, fault.Line, fault.Column, fault.Stack = received.File, received.Line, received.Column, received.Stack
	if fault.Hint == "" {
		fault.Hint = received.Hint
	}
	return &fault
}
