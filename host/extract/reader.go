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

// What reading one document may take.
const (
	// MaxBytes is how large a document may be that a Reader reads.
	MaxBytes = 20 << 20
	// CPU is how much of a processor's time it may take.
	CPU = 3 * time.Second
	// Time is how long it may take from when it is a document's turn. It is more than CPU: a sound document must not fail
	// because others keep the machine busy.
	Time = 30 * time.Second
)

// Reader reads the text of documents with an engine. It is safe for concurrent use.
type Reader struct {
	// Engine reads them: that of a pool of cells, see engines.NewDocumentPool. It is required.
	Engine engine.Engine
	// TextBytes is how much text is answered at most, as UTF-8. Default: the constant TextBytes.
	TextBytes int
	// Parallel is how many documents are read at a time, the others wait their turn: as many as Engine has cells. Default: the
	// number of processors that Go uses, which is that of engines.NewDocumentPool too. One tenant has three quarters of
	// them at most, one of its users half of that, or one document.
	Parallel int

	mu      sync.Mutex
	program engine.Program // nil until the first document
	loading *loading       // nil while nothing loads the program
	closed  bool
	turns   *admission.Gate // nil until the first document
}

// Text is the text of a document.
type Text struct {
	// Text is in UTF-8.
	Text string `json:"text"`
	// Truncated reports that there is more, which exceeds a limit or cannot be read.
	Truncated bool `json:"truncated"`
	// Reason says why there is no text; "" if there is.
	Reason Reason `json:"reason,omitempty"`
}

// waitingUser, waitingTenant and waitingAll are how many documents wait for their turn at most.
const waitingUser, waitingTenant, waitingAll = 32, 128, 1024

// Read returns the text of a document of a party. Documents of two apps or tenants are never read in one process, one after
// the other included. It waits for its turn as long as ctx lets it: tenants take turns, and so do their users. The reading
// itself has CPU, Time and MemoryBytes. What is text already takes no turn.
//
// A document without text is not an error: Text.Reason says why. Faults are too_large for more than MaxBytes, unavailable if
// too many wait already, and cancelled if ctx ends.
func (r *Reader) Read(ctx context.Context, of admission.Party, format Format, data []byte) (Text, error) {
	if !format.Extracts {
		return Text{Reason: UnsupportedFormat}, nil
	}
	if len(data) > MaxBytes {
		return Text{}, abi.Faultf(abi.TooLarge, "the document has %d bytes, more than %d", len(data), MaxBytes)
	}
	if ctx.Err() != nil {
		return Text{}, engine.EndOf(ctx)
	}
	if format.Name == formatTXT || format.Name == formatJSON {
		return r.plain(format, data)
	}
	done, err := r.turn(ctx, of) // before Time begins: in a cell's queue the document's time would be spent on others
	if err != nil {
		return Text{}, err
	}
	defer done()
	domain := domainOf(of)
	program, err := r.load(ctx)
	if err != nil {
		return Text{}, err
	}
	if w, ok := program.(engine.Warmer); ok { // what it waits for others is not the document's time
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
		return Text{}, err // the time was the caller's
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

// starter is an engine that compiles its library for PDF in this process, which is not the document's time either. A pool of
// workers does that when it loads the program.
type starter interface{ Start(context.Context) error }

// domainOf is what parties share that may be read in one process after each other.
func domainOf(of admission.Party) string {
	if of.Tenant == "" && of.App == "" {
		return ""
	}
	return of.Tenant + " " + of.App
}

// plain reads what is text already, here: there is nothing to parse that could go wrong.
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

// turn waits until a document of a party may be read. What it returns lets the next one begin. An app is none of the
// party's: a tenant with many has no more turns.
func (r *Reader) turn(ctx context.Context, of admission.Party) (done func(), err error) {
	gate, err := r.gate()
	if err != nil {
		return nil, err
	}
	of.App = ""
	if err := gate.Enter(ctx, of); err != nil {
		return nil, err
	}
	return func() { gate.Leave(of) }, nil
}

func (r *Reader) gate() (*admission.Gate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns != nil {
		return r.turns, nil
	}
	parallel := max(cmp.Or(r.Parallel, runtime.GOMAXPROCS(0)), 1)
	gate, err := admission.New(admission.Limits{
		Running: parallel, Waiting: waitingAll, WaitingPerTenant: waitingTenant, WaitingPerApp: waitingTenant, WaitingPerUser: waitingUser,
	})
	r.turns = gate
	return gate, err
}

// input is what a run gets for a document.
func (r *Reader) input(domain string, format Format, data []byte) engine.Input {
	textBytes := r.textBytes()
	request := request{Format: format.Name, TextBytes: textBytes, Data: data}
	return engine.Input{Input: request.input(), Domain: domain, Limits: engine.Limits{
		CPU: CPU, MemoryBytes: MemoryBytes,
		OutputBytes: 6*textBytes + 1<<10, // as JSON each byte may become an escape
	}}
}

// withoutText returns the text of a document whose reading exceeded a limit. Other faults are not about the document.
func withoutText(err error) (Text, error) {
	for _, limit := range []abi.Code{abi.Timeout, abi.MemoryLimit, abi.StackLimit, abi.OutputLimit} {
		if errors.Is(err, limit) {
			return Text{Reason: TooComplex}, nil
		}
	}
	return Text{}, err
}
