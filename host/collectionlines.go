package host

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// EntryLine is one line of an export. EntryLine represents an entry of a collection. An import
// ignores Updated.
type EntryLine struct {
	ID        string          `json:"id,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Content   json.RawMessage `json:"content"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	User      string          `json:"user_id,omitempty"`
	Session   string          `json:"session_id,omitempty"`
	// TTL is the lifetime of the entry. Expires is its end. A line has at most one of TTL and
	// Expires.
	TTL     string     `json:"ttl,omitempty"`
	Expires *time.Time `json:"expires_at,omitempty"`
	Updated *time.Time `json:"updated_at,omitempty"`
}

// LineOf converts an entry to a line of an export.
func LineOf(e memory.Entry) EntryLine {
	return EntryLine{
		ID: e.ID, Namespace: e.Namespace, Content: e.Content, Metadata: e.Metadata, User: cmp.Or(e.User, e.Author), Session: e.Session,
		Expires: e.Expires, Updated: &e.Updated,
	}
}

const (
	// maxEntryLine is the maximum size, in bytes, of a line that is imported.
	maxEntryLine = 1 << 20
	// maxBatchBytes is the maximum total size, in bytes, of the lines of a batch. A batch that
	// consists of a single line can exceed this size.
	maxBatchBytes = 512 << 10
)

// EntryBatch contains the entries of consecutive lines. All entries of a batch have the same owner.
type EntryBatch struct {
	User, Session string
	Entries       []NewEntry
	// First and Last are the numbers of the first line and the last line. The numbers of lines
	// start at 1.
	First, Last int
	// Expired is the number of lines whose entry has already expired. The batch does not contain
	// these entries.
	Expired int
}

// EntryReader reads JSON lines and returns the entries in batches. The memory use of an EntryReader
// is bounded. If an entry has no id, its new id depends only on the content of its line. Therefore
// a second import of the same line replaces the entry. EntryReader is not safe for concurrent use.
type EntryReader struct {
	lines   *bufio.Scanner
	now     time.Time
	at      int        // the number of the current line
	pending *EntryLine // a line that has been read but is not yet in a batch
	size    int        // of the pending line
}

// NewEntryReader returns an EntryReader. The argument "now" determines which entries have expired.
func NewEntryReader(r io.Reader, now time.Time) *EntryReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEntryLine)
	return &EntryReader{lines: lines, now: now}
}

// Next returns the next batch of at most MaxRemembered entries. After the last batch, Next returns
// the error io.EOF. If a line is not a valid entry, the error is the fault invalid_argument, which
// contains the number of the line.
func (r *EntryReader) Next() (EntryBatch, error) {
	var b EntryBatch
	bytes := 0
	for {
		line, err := r.read()
		if err == io.EOF && b.Last > 0 {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if b.Last > 0 && (len(b.Entries) == MaxRemembered || bytes+r.size > maxBatchBytes || line.User != b.User || line.Session != b.Session) {
			r.pending = line
			return b, nil
		}
		if b.Last == 0 {
			b.User, b.Session, b.First = line.User, line.Session, r.at
		}
		b.Last, bytes = r.at, bytes+r.size
		entry, expired := r.entry(*line)
		if expired {
			b.Expired++
			continue
		}
		b.Entries = append(b.Entries, entry)
	}
}

// read returns the next line that is not empty.
func (r *EntryReader) read() (*EntryLine, error) {
	if line := r.pending; line != nil {
		r.pending = nil
		return line, nil
	}
	for r.lines.Scan() {
		r.at++
		text := r.lines.Bytes()
		if r.at == 1 {
			text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
		}
		if strings.TrimSpace(string(text)) == "" {
			continue
		}
		line, err := readEntryLine(text)
		if err != nil {
			return nil, AtLine(err, r.at)
		}
		r.size = len(text)
		return line, nil
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, AtLine(abi.Faultf(abi.TooLarge, "the line is longer than %d bytes", maxEntryLine), r.at+1)
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

// AtLine adds the number of a line to an error that is a fault. AtLine returns any other error
// unchanged.
func AtLine(err error, line int) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	located := *f
	located.Message = fmt.Sprintf("line %d: %s", line, f.Message)
	return &located
}

// lineHint is the hint of the fault for a line that is not a valid entry.
const lineHint = `each line is an object such as {"id": "r1", "content": "We refund broken cups.", "metadata": {"category": "refunds"}}`

// readEntryLine decodes a line.
func readEntryLine(text []byte) (*EntryLine, error) {
	if err := strictjson.Check(text, strictjson.Limits{Depth: 64, Values: 100_000}); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the line is not valid JSON: %v", err).WithHint(lineHint)
	}
	line := &EntryLine{}
	decode := json.NewDecoder(strings.NewReader(string(text)))
	decode.DisallowUnknownFields()
	if err := decode.Decode(line); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the line is not an entry: %s", strings.TrimPrefix(jsonMistake(err), "json: ")).WithHint(lineHint)
	}
	if line.TTL != "" && line.Expires != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the entry contains both `ttl` and `expires_at`").WithHint("omit `ttl` or `expires_at`")
	}
	return line, nil
}

// jsonMistake describes an error of encoding/json without the names of Go types.
func jsonMistake(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return "it is not an object"
		}
		return fmt.Sprintf("the member %q has the wrong type", wrong.Field)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "a time is not in the format of RFC 3339"
	}
	return err.Error()
}

// lineIDs encodes the ids that an import chooses for entries without an id.
var lineIDs = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// entry returns the entry of a line, and reports whether the entry has already expired.
func (r *EntryReader) entry(line EntryLine) (e NewEntry, expired bool) {
	e = NewEntry{ID: line.ID, Namespace: line.Namespace, Content: line.Content, Metadata: line.Metadata, TTL: line.TTL}
	if e.ID == "" {
		digest := sha256.Sum256(line.Content)
		e.ID = lineIDs.EncodeToString(digest[:15])
	}
	if line.Expires == nil {
		return e, false
	}
	left := line.Expires.Sub(r.now) / time.Second
	e.TTL = fmt.Sprintf("%ds", max(left, 1))
	return e, !line.Expires.After(r.now)
}

// EntryProgress is the progress of an import or an export.
type EntryProgress struct {
	Entries int `json:"entries"`
	// Expired is the number of entries that an import has skipped because they have expired.
	Expired int `json:"expired,omitempty"`
}

// ImportEntries reads entries from JSON lines. ImportEntries passes the entries to the function
// "remember" in batches. If the argument "caller" has a user or a session, this user or session
// becomes the owner of every entry. If the function "report" is not nil, ImportEntries calls it
// after each batch. If a batch fails, earlier batches stay stored. If the import is repeated, it
// replaces the entries of these batches.
func ImportEntries(ctx context.Context, caller Caller, from *EntryReader, remember func(context.Context, Caller, []NewEntry) error, report func(EntryProgress)) (EntryProgress, error) {
	var done EntryProgress
	for {
		b, err := from.Next()
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		owner := caller
		if owner.User == "" && owner.Session == "" {
			owner.User, owner.Session = b.User, b.Session
		}
		if len(b.Entries) > 0 {
			if err := remember(ctx, owner, b.Entries); err != nil {
				return done, inLines(err, b)
			}
		}
		done.Entries += len(b.Entries)
		done.Expired += b.Expired
		if report != nil {
			report(done)
		}
	}
}

// inLines adds the line numbers of a batch to a fault.
func inLines(err error, b EntryBatch) error {
	if b.First == b.Last {
		return AtLine(err, b.First)
	}
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	located := *f
	located.Message = fmt.Sprintf("lines %d to %d: %s", b.First, b.Last, f.Message)
	return &located
}

// ExportEntries writes the entries of all pages as JSON lines. The function "page" returns the page
// that follows a cursor. If the function "report" is not nil, ExportEntries calls it after each
// page.
func ExportEntries(w io.Writer, page func(after string) (found []memory.Entry, next string, err error), report func(EntryProgress)) (EntryProgress, error) {
	var done EntryProgress
	encode := json.NewEncoder(w)
	encode.SetEscapeHTML(false)
	for after := ""; ; {
		found, next, err := page(after)
		if err != nil {
			return done, err
		}
		for _, e := range found {
			if err := encode.Encode(LineOf(e)); err != nil {
				return done, err
			}
			done.Entries++
		}
		if report != nil {
			report(done)
		}
		if after = next; after == "" {
			return done, nil
		}
	}
}

// Import reads JSON lines and stores their entries in a collection; see ImportEntries.
func (c Collections) Import(ctx context.Context, caller Caller, name string, r io.Reader, report func(EntryProgress)) (EntryProgress, error) {
	return ImportEntries(ctx, caller, NewEntryReader(r, c.h.now()), func(ctx context.Context, owner Caller, entries []NewEntry) error {
		_, err := c.Remember(ctx, owner, name, entries...)
		return err
	}, report)
}

// exportPage is the maximum number of entries that an export reads in one page.
const exportPage = 256

// Export writes the entries of a collection as JSON lines, which Import accepts. If the caller has
// a user or a session, Export writes the entries of this user or session and the entries of the
// app. Export writes no entries of other users or sessions. Export reads the entries in pages, not
// from one snapshot. If the argument "namespace" is not nil, Export writes only the entries of this
// namespace.
func (c Collections) Export(ctx context.Context, caller Caller, name string, namespace *string, w io.Writer, report func(EntryProgress)) (EntryProgress, error) {
	return ExportEntries(w, func(after string) ([]memory.Entry, string, error) {
		return c.List(ctx, caller, memory.EntryQuery{Collection: name, Namespace: namespace, After: after, Limit: exportPage})
	}, report)
}
