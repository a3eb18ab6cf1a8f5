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

// Limits of reading one document.
const (
	// MaxBytes is the largest size of a document.
	MaxBytes = 20 << 20
	// CPU is the limit of processor time.
	CPU = 3 * time.Second
	// Time is the limit of the duration, without the time in the queue. It is longer than CPU, so
	// that a document does not fail because the machine is busy.
	Time = 30 * time.Second
)

// Reader extracts the text of documents with an engine. It is safe for concurrent use.
type Reader struct {
	// Engine extracts the text. It is an engine of a worker pool, see engines.NewDocumentPool, and
	// required.
	Engine engine.Engine
	// TextBytes is the limit of the text in bytes of UTF-8. Default: the constant TextBytes.
	TextBytes int
	// Parallel is how many documents are read at once; others wait. It should be the number of
	// Engine's workers. Default: the number of processors that Go uses, as in
	// engines.NewDocumentPool. A tenant can use three quarters of them, and each of its users half
	// of that, or one.
	Parallel int

	mu      sync.Mutex
	program engine.Program // nil until the first document
	loading *loading       // nil if the program is not being loaded
	closed  bool
	gate    *admission.Gate // nil until the first document
}

// Text is the text of a document.
type Text struct {
	// Text is in UTF-8.
	Text string `json:"text"`
	// Truncated is true if there is more text, which exceeds a limit or is unreadable.
	Truncated bool `json:"truncated"`
	// Reason is the reason why there is no text, "" if there is text.
	Reason Reason `json:"reason,omitempty"`
}

// waitingUser, waitingTenant and waitingAll bound the documents in the queue.
const waitingUser, waitingTenant, waitingAll = 32, 128, 1024

// Read returns the text of a document of a flow. Documents of different apps or tenants are never
// read by the same process. It waits in a queue until ctx ends; the queue is fair to tenants and
// their users. Extraction is limited by CPU, Time and MemoryBytes. Formats that are already text
// need no worker.
//
// A document without text is not an error: Text.Reason is then set. Faults are too_large for more
// than MaxBytes, unavailable if the queue is full, and cancelled if ctx ends.
func (r *Reader) Read(ctx context.Context, of admission.Flow, format Format, data []byte) (Text, error) {
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
		return r.plain(format, data)
	}
	done, err := r.acquire(ctx, of) // before Time begins, which a queue of workers would use up
	if err != nil {
		return Text{}, err
	}
	defer done()
	domain := domainOf(of)
	program, err := r.load(ctx)
	if err != nil {
		return Text{}, err
	}
	if w, ok := program.(engine.Warmer); ok { // waiting for others does not count against Time
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
	out, err := program.Run(limited, r.input(domain, format, data), engine.Host{})
	if err != nil && ctx.Err() != nil {
		return Text{}, err // the caller's deadline ended it
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

// starter is an engine that compiles its PDF library in this process, which does not count against
// Time either. A worker pool does so when it loads the program.
type starter interface{ Start(context.Context) error }

// domainOf returns the domain of a flow. Documents of one domain can be read in one process.
func domainOf(of admission.Flow) string {
	if of.Tenant == "" && of.App == "" {
		return ""
	}
	return of.Tenant + " " + of.App
}

// plain reads formats that are already text, in this process, since they need no parser.
func (r *Reader) plain(format Format, data []byte) (Text, error) {
	if _, err := r.loaded(); err != nil {
		return Text{}, err
	}
	out := &sink{limit: r.textBytes()}
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

// acquire waits until a document of a flow can be read. The returned function releases its place.
// The key has no app, so that a tenant with many apps gets no larger share.
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

// openGate returns the gate, which it makes for the first document.
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

// input returns the input of a run for a document.
func (r *Reader) input(domain string, format Format, data []byte) engine.Input {
	textBytes := r.textBytes()
	request := request{Format: format.Name, TextBytes: textBytes, Data: data}
	return engine.Input{Input: request.input(), Domain: domain, Limits: engine.Limits{
		CPU: CPU, MemoryBytes: MemoryBytes,
		OutputBytes: 6*textBytes + 1<<10, // in JSON a byte can become an escape of six
	}}
}

// withoutText returns the text of a document that exceeded a limit. Other faults are returned as
// they are.
func withoutText(err error) (Text, error) {
	for _, limit := range []abi.Code{abi.Timeout, abi.MemoryLimit, abi.StackLimit, abi.OutputLimit} {
		if errors.Is(err, limit) {
			return Text{Reason: TooComplex}, nil
		}
	}
	return Text{}, err
}
