package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// seed returns the encoding of frames.
func seed(frames ...func(*wire) error) []byte {
	var out bytes.Buffer
	w := newWire(nil, &out)
	for _, send := range frames {
		if err := send(w); err != nil {
			panic(err)
		}
	}
	return out.Bytes()
}

// FuzzParent sends arbitrary data to the parent. The parent treats the data as the output of a
// worker, during a run and during a load. All calls and log lines that reach the host must comply
// with the limits of the run. All outputs must be JSON.
func FuzzParent(f *testing.F) {
	call := func(w *wire) error {
		return w.send(w.frame(kindCall).text(abi.GetContent).number(2).optional([]byte(`"prefs"`)).optional(nil))
	}
	line := func(w *wire) error { return w.send(w.frame(kindLog).text("info").text("hello")) }
	done := func(w *wire) error {
		return w.send(w.frame(kindOutcome).number(outcomeOutput).number(7).data([]byte(`{"a":1}`)).optional(nil).data(nil).texts([]string{"w"}))
	}
	fault := func(w *wire) error {
		return w.send(w.frame(kindOutcome).number(outcomeFault).number(0).data(nil).optional(nil).data([]byte(`{"code":"conflict","id":"worker 0"}`)).texts(nil))
	}
	begin := func(w *wire) error {
		return w.send(w.frame(kindBegin).number(1).text(abi.ModelChat).number(2).optional([]byte(`"m"`)).optional([]byte(`{}`)))
	}
	wait := func(w *wire) error { return w.send(w.frame(kindWait).number(0)) }
	open := func(w *wire) error { return w.send(w.frame(kindOpen).text("a.js")) }
	loaded := func(w *wire) error {
		return w.send(w.frame(kindLoaded).number(outcomeOutput).text("").data([]byte(`{"calls":[{"op":"get_content","store":"a"}]}`)))
	}
	f.Add(seed(call, line, done))
	f.Add(seed(call, fault))
	f.Add(seed(begin, wait, done))
	f.Add(seed(begin, begin, wait))
	f.Add(seed(wait))
	f.Add(seed(open, open, loaded))
	f.Add([]byte("\xff\xff\xff\xff\x07"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		fuzzRun(t, sent)
		p := &program{engine: &proxy{info: engine.Info{Name: "x"}}, source: engine.Source{Files: fstest.MapFS{}}, files: newArchive(fstest.MapFS{"a.js": {Data: []byte("1")}}, []string{".js"})}
		failed, _, err := p.exchangeLoad(&worker{dead: true, wire: newWire(bytes.NewReader(sent), io.Discard)})
		if err == nil && failed != nil && failed.Code.Number() == 0 {
			t.Errorf("load = %v; want a known code", failed)
		}
	})
}

func fuzzRun(t *testing.T, sent []byte) {
	w := &worker{dead: true, wire: newWire(bytes.NewReader(sent), io.Discard)}
	limits := engine.Limits{LogLines: 5, LogBytes: 100, OutputBytes: 1000}.WithDefaults()
	lines := 0
	x := &exchange{ctx: context.Background(), worker: w, limits: limits, table: abi.Operations(), watchdog: &watchdog{worker: w, finished: true}}
	x.host.Log = func(level abi.Level, _ string) error {
		if lines++; lines > 2*limits.LogLines+2 || level == "" {
			t.Errorf("log line %d of level %q reached the host", lines, level)
		}
		return nil
	}
	x.host.Call = func(_ context.Context, call abi.Call) (json.RawMessage, error) {
		if len(call.Args) > maxArguments { // package memory checks the arguments
			t.Errorf("a call with %d arguments reached the host", len(call.Args))
		}
		if call.Op == "" {
			return nil, errors.New("halt")
		}
		return nil, abi.Faultf(abi.NotFound, "no such store")
	}
	begun, answered := uint64(0), uint64(0)
	x.host.Begin = func(call abi.Call) (uint64, error) {
		if begun-answered > maxPending || call.Op != abi.ModelChat {
			t.Errorf("the operation %d, %s, reached the host with %d pending", begun+1, call.Op, begun-answered)
		}
		begun++
		return begun, nil
	}
	x.host.Await = func(context.Context, time.Time) (uint64, json.RawMessage, error) {
		if answered == begun {
			t.Error("the host waits for nothing")
		}
		answered++
		return answered, json.RawMessage("null"), nil
	}
	out, err, lost := x.serve()
	if lost && err == nil {
		t.Error("the exchange was lost, but err = nil; want an error")
	}
	if err == nil && (!json.Valid(out.Output) || len(out.Output) > limits.OutputBytes || len(out.Warnings) > maxWarnings) {
		t.Errorf("output = %q", out.Output)
	}
}

// FuzzWorker sends arbitrary data to a worker. The worker treats the data as the output of its
// parent. The worker must not panic.
func FuzzWorker(f *testing.F) {
	load := func(w *wire) error {
		return w.send(w.frame(kindLoad).number(1).text("echo").text("[]").text("").text("a").text("").number(1).texts(nil).text("code"))
	}
	run := func(w *wire) error {
		fr := w.frame(kindRun).number(1)
		writeInput(fr, context.Background(), engine.Input{Input: []byte("{}")}, engine.Limits{}.WithDefaults())
		return w.send(fr)
	}
	reply := func(w *wire) error { return w.send(w.frame(kindReply).number(outcomeOutput).text("null")) }
	file := func(w *wire) error { return w.send(w.frame(kindFile).number(fileRegular).text("x").number(0)) }
	f.Add(seed(load, file, run, reply))
	f.Add(seed(load, run))
	f.Add([]byte("\xff\xff\xff\xff\x06"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		w := newWire(bytes.NewReader(sent), io.Discard)
		_ = newServer(w, []Language{{New: func(Setup) engine.Engine { return echo{} }}}, handshake{}).serve()
		var h handshake
		h.read(&fields{rest: sent})
	})
}

// echo is an engine. echo reads a file, performs memory calls and writes log lines.
type echo struct{}

func (echo) Info() engine.Info { return engine.Info{Name: "echo"} }
func (echo) Close() error      { return nil }

func (echo) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	if src.Files != nil {
		if file, err := src.Files.Open("a"); err == nil {
			_, _ = io.ReadAll(file)
		}
	}
	return echo{}, nil
}

func (echo) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	reply, err := host.Call(ctx, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{in.Input, nil}})
	if err == nil {
		err = host.Log(abi.LevelInfo, string(reply))
	}
	return engine.Output{Output: reply}, err
}
