package extract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
)

// These limits apply when a document is read.
const (
	// MaxBytes is the maximum number of bytes of a document.
	MaxBytes = 20 << 20
	// CPU is the maximum CPU time for one document.
	CPU = 3 * time.Second
	// Time is the maximum time to read one document. The time in the queue does not count. Time is
	// longer than CPU, so that a document does not fail only because the machine is busy.
	Time = 30 * time.Second
)

// Reader extracts the text of documents with an engine. Reader is safe for concurrent use.
type Reader struct {
	// Engine extracts the text. Engine should be the engine of a worker pool; see
	// engines.NewDocumentPool. Engine is required.
	Engine engine.Engine
	// TextBytes is the maximum number of bytes of a UTF-8 text. The default is the constant
	// TextBytes.
	TextBytes int
	// Parallel is the maximum number of documents that are read concurrently. Further documents
	// wait in a queue. Parallel should be the number of workers of Engine. The default of Parallel
	// is GOMAXPROCS, which is also the default number of workers in engines.NewDocumentPool.
	// Documents of one tenant can use three quarters of Parallel. Documents of one user can use
	// half of the tenant's share. A user can always have at least one document read at a time.
	Parallel int

	mu      sync.Mutex
	program engine.Program // nil until the first document is read
	loading *loading       // nil if the program is not being loaded
	closed  bool
	gate    *admission.Gate // nil until the first document is read
}

// Text is the extracted text of a document.
type Text struct {
	// Text is the text in UTF-8.
	Text string `json:"text"`
	// Truncated is true if Text contains only a part of the document's text. The rest exceeds a
	// limit or is unreadable.
	Truncated bool `json:"truncated"`
	// Reason explains why the document has no text. If the document has text, Reason is "".
	Reason Reason `json:"reason,omitempty"`
}

// waitingUser is the maximum number of waiting documents of one user. waitingTenant is the maximum
// number for one tenant, and waitingAll is the maximum total number.
const waitingUser, waitingTenant, waitingAll = 32, 128, 1024

// Read returns the text of a document. The flow identifies the app, tenant and user of the
// document. Two documents of different apps or tenants are never read by the same process. If all
// workers are busy, Read waits in a queue that is fair to tenants and their users. Read stops
// waiting when ctx ends. The limits CPU, Time and MemoryBytes apply to the extraction. If the
// format is already text, Read reads the document in this process, without a worker.
//
// If the document has no text, Read does not return an error, but sets Text.Reason. If the document
// exceeds MaxBytes, the code of the fault is too_large. If the queue is full, the code of the fault
// is unavailable. If ctx ends, the code of the fault is cancelled.
func (r *Reader) Read(ctx context.Context, of admission.Flow, format Format, data []byte) (Text, error) {
	return r.read(ctx, of, format, data, r.textBytes())
}

// read works like Read, but the text has at most textBytes bytes.
func (r *Reader) read(ctx context.Context, of admission.Flow, format Format, data []byte, textBytes int) (Text, error) {
	if !format.Extracts {
		return Text{Reason: UnsupportedFormat}, nil
	}
	if len(data) > MaxBytes {
		return Text{}, abi.Faultf(abi.TooLarge, "the document has %d bytes; the limit is %d", len(data), MaxBytes)
	}
	if ctx.Err() != nil {
		return Text{}, engine.FaultFromContext(ctx)
	}
	if format.Name == formatTXT || format.Name == formatJSON {
		if _, err := r.loaded(); err != nil {
			return Text{}, err
		}
		return plain(format, data, textBytes)
	}
	done, err := r.acquire(ctx, of) // waiting for a worker must not count against Time
	if err != nil {
		return Text{}, err
	}
	defer done()
	domain := domainOf(of)
	program, err := r.load(ctx)
	if err != nil {
		return Text{}, err
	}
	if w, ok := program.(engine.Warmer); ok { // Time does not include the time in the queue
		if err := w.Warm(ctx, domain); err != nil {
			return Text{}, err
		}
	}
	if s, ok := r.Engine.(starter); ok && format.Name == formatPDF {
		if err := s.Start(ctx); err != nil {
			return Text{}, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	out, err := program.Run(limited, input(domain, format, data, textBytes), engine.Host{})
	if err != nil && ctx.Err() != nil {
		return Text{}, err // the deadline of the caller, not the limit Time, ended the extraction
	}
	if err != nil {
		return withoutText(err)
	}
	var text Text
	if err := json.Unmarshal(out.Output, &text); err != nil {
		return Text{}, fmt.Errorf("decode the text of a document: %w", err)
	}
	return text, nil
}

// starter is an engine that compiles its PDF library in this process. The method Start compiles the
// library before the time limit begins. A worker pool is not a starter, because it compiles the
// library when it loads the program.
type starter interface{ Start(context.Context) error }

// domainOf returns the isolation domain of a flow. A process can read several documents of one
// domain, but never documents of two domains.
func domainOf(of admission.Flow) string {
	if of.Tenant == "" && of.App == "" {
		return ""
	}
	return of.Tenant + " " + of.App
}

// plain reads a document whose format is already text. The function needs no parser and therefore
// runs in this process.
func plain(format Format, data []byte, textBytes int) (Text, error) {
	out := &sink{limit: textBytes}
	read := readText
	if format.Name == formatJSON {
		read = readJSON
	}
	return out.result(read(data, out))
}

func (r *Reader) textBytes() int {
	if r.TextBytes <= 0 {
		return TextBytes
	}
	return r.TextBytes
}

// acquire waits until the gate admits a document. The returned function releases the gate. The
// gate's key contains the tenant but not the app. A tenant that has many apps therefore gets the
// same share as a tenant that has one app.
func (r *Reader) acquire(ctx context.Context, of admission.Flow) (done func(), err error) {
	gate, err := r.openGate()
	if err != nil {
		return nil, err
	}
	of.App = ""
	if err := gate.Acquire(ctx, of); err != nil {
		return nil, err
	}
	return func() { gate.Release(of) }, nil
}

// openGate returns the gate. The first call of acquire creates the gate.
func (r *Reader) openGate() (*admission.Gate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate != nil {
		return r.gate, nil
	}
	parallel := max(cmp.Or(r.Parallel, runtime.GOMAXPROCS(0)), 1)
	gate, err := admission.New(admission.Limits{
		Running: parallel, Waiting: waitingAll, WaitingPerTenant: waitingTenant, WaitingPerApp: waitingTenant, WaitingPerUser: waitingUser,
	})
	r.gate = gate
	return gate, err
}

// input returns the input for the run that reads a document.
func input(domain string, format Format, data []byte, textBytes int) engine.Input {
	request := request{Format: format.Name, TextBytes: textBytes, Data: data}
	return engine.Input{Input: request.input(), Domain: domain, Limits: engine.Limits{
		CPU: CPU, MemoryBytes: MemoryBytes,
		OutputBytes: 6*textBytes + 1<<10, // in JSON, one byte can become an escape of six bytes
	}}
}

// withoutText converts the fault for a document that exceeded a limit to a Text that has a Reason.
// withoutText returns any other fault unchanged.
func withoutText(err error) (Text, error) {
	for _, limit := range []abi.Code{abi.Timeout, abi.MemoryLimit, abi.StackLimit, abi.OutputLimit} {
		if errors.Is(err, limit) {
			return Text{Reason: TooComplex}, nil
		}
	}
	return Text{}, err
}
