package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/extract/chunk"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Document is a text that Collections.ImportDocument divides into entries.
type Document struct {
	// Source identifies the document in its namespace. Source can be a path, such as
	// guides/setup.md. Source must not be empty and must have at most MaxSourceBytes bytes without
	// control characters. Source is part of the metadata of each entry.
	Source string
	// Text is the text of the document in UTF-8. If the text has pages, form feeds separate them.
	Text      string
	Namespace string
	// Metadata is nil or a JSON object. The members of this object become part of the metadata of
	// each entry. Metadata must not contain the names source, page, heading and offset.
	Metadata json.RawMessage
	// TTL is the lifetime of the entries, such as 30d. If TTL is "", the retention of the
	// collection determines the lifetime.
	TTL string
}

// MaxSourceBytes is the maximum size of Document.Source.
const MaxSourceBytes = 1024

// ImportedDocument is the result of an import of a document.
type ImportedDocument struct {
	Source string `json:"source"`
	// Entries is the number of entries of the document. Unchanged is the number of these entries
	// that an earlier import has already stored in the same form. Removed is the number of entries
	// that an earlier import has stored and this import has removed.
	Entries   int `json:"entries"`
	Unchanged int `json:"unchanged"`
	Removed   int `json:"removed"`
}

// importBatch is the maximum number of entries that one transaction of an import stores. importScan
// is the maximum number of earlier entries that one transaction reads.
const importBatch, importScan = 250, 500

// ImportDocument divides the text of a document into chunks and stores each chunk as an entry. If
// an earlier import has stored entries of the document in the same namespace, ImportDocument
// removes those that are not part of the text anymore. The metadata of an entry contains the
// source, the headings of the section, and the offset of the chunk in the text. If the text has
// pages, the metadata also contains the page.
//
// If a document has at most 250 entries, and the entries are not large, it is imported in one
// transaction. A longer document is imported in several transactions. If one of them fails, the
// entries of earlier transactions stay stored, and a repetition of the call completes the import.
// If the function "report" is not nil, ImportDocument calls it after each transaction with the
// number of entries so far.
func (c Collections) ImportDocument(ctx context.Context, caller Caller, name string, d Document, report func(entries int)) (ImportedDocument, error) {
	done := ImportedDocument{Source: d.Source}
	im, err := newDocumentImport(name, d)
	if err != nil {
		return done, err
	}
	for !im.complete {
		var step documentStep
		err := c.perform(ctx, caller, act{name: actOperate, writes: true}, func(ctx context.Context, v *memory.View) (err error) {
			step, err = im.step(ctx, v)
			return err
		})
		switch {
		case errors.Is(err, abi.CallLimit) && im.batch > 1: // the entries are large
			im.batch /= 2
			continue
		case err != nil:
			return done, err
		}
		im.advance(step)
		done.Entries += step.taken
		done.Unchanged += step.unchanged
		done.Removed += step.removed
		if report != nil {
			report(done.Entries)
		}
	}
	return done, nil
}

// Check returns abi.NotFound if the app cannot have a collection with the given name.
func (c Collections) Check(name string) error { return memory.CheckCollection(c.h.memory, name) }

// documentImport is the state of an import of a document. All entries of a document have ids with
// the same prefix and the same length. Entries of earlier versions of the document have the same
// prefix, so all entries of the document are one range of keys. The import processes this range in
// the order of the ids.
type documentImport struct {
	collection, namespace, prefix string
	chunks                        []NewEntry // the chunks that are not stored yet, in the order of their ids
	after                         string     // the id of the last processed entry
	batch                         int        // the maximum number of entries per transaction
	complete                      bool
}

// documentStep is one transaction of an import.
type documentStep struct {
	taken, unchanged, removed int
	last                      string // the last id of the range that the transaction processes
	complete                  bool
}

// newDocumentImport divides a document into entries.
func newDocumentImport(name string, d Document) (*documentImport, error) {
	if d.Source == "" || len(d.Source) > MaxSourceBytes || !utf8.ValidString(d.Source) || strings.ContainsFunc(d.Source, unicode.IsControl) {
		return nil, abi.Faultf(abi.InvalidArgument, "the source of a document must be valid UTF-8 without control characters, from 1 to %d bytes", MaxSourceBytes)
	}
	if !utf8.ValidString(d.Text) {
		return nil, abi.Faultf(abi.InvalidArgument, "the text of the document is not valid UTF-8")
	}
	if strings.TrimSpace(d.Text) == "" {
		return nil, abi.Faultf(abi.InvalidArgument, "the document has no text")
	}
	metadata, err := documentMetadata(d.Metadata)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(d.Source))
	im := &documentImport{collection: name, namespace: d.Namespace, prefix: hex.EncodeToString(digest[:8]) + "-", batch: importBatch}
	for _, part := range chunk.Split(d.Text, chunk.Options{Source: d.Source}) {
		e := NewEntry{ID: im.prefix + part.ID, Namespace: d.Namespace, TTL: d.TTL}
		if e.Content, err = strictjson.Encode(part.Text); err != nil {
			return nil, err
		}
		if e.Metadata, err = chunkMetadata(metadata, d.Source, part); err != nil {
			return nil, err
		}
		im.chunks = append(im.chunks, e)
	}
	slices.SortFunc(im.chunks, func(a, b NewEntry) int { return cmp.Compare(a.ID, b.ID) })
	im.after = im.prefix + strings.Repeat(" ", 2*16) // sorts before all ids of the document
	return im, nil
}

// chunkNames are the names of the metadata that an import sets itself.
var chunkNames = []string{"source", "page", "heading", "offset"}

// documentMetadata returns the metadata that a caller adds to all entries.
func documentMetadata(text json.RawMessage) (map[string]json.RawMessage, error) {
	metadata := map[string]json.RawMessage{}
	if len(text) == 0 {
		return metadata, nil
	}
	if err := strictjson.Check(text, strictjson.Limits{Depth: 16, Values: 10_000}); err != nil || !strictjson.IsObject(text) || json.Unmarshal(text, &metadata) != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the metadata is not a JSON object")
	}
	for _, name := range chunkNames {
		if _, ok := metadata[name]; ok {
			return nil, abi.Faultf(abi.InvalidArgument, "the metadata contains the name %q, which is reserved for imports", name).WithHint("use another name")
		}
	}
	return metadata, nil
}

// chunkMetadata returns the metadata of an entry.
func chunkMetadata(common map[string]json.RawMessage, source string, c chunk.Chunk) (json.RawMessage, error) {
	all := map[string]any{"source": source, "offset": c.Offset}
	for name, value := range common {
		all[name] = value
	}
	if c.Page > 0 {
		all["page"] = c.Page
	}
	if len(c.Headings) > 0 {
		all["heading"] = shortHeading(strings.Join(c.Headings, " / "))
	}
	return strictjson.Encode(all)
}

// maxHeading is the maximum size of the headings in the metadata of an entry.
const maxHeading = 500

// shortHeading shortens the headings of a section.
func shortHeading(text string) string {
	if len(text) <= maxHeading {
		return text
	}
	return strings.ToValidUTF8(text[:maxHeading], "")
}

// step stores the next entries of the document. It also removes entries whose ids are in the same
// range but that only an earlier import has stored.
func (im *documentImport) step(ctx context.Context, v *memory.View) (documentStep, error) {
	scan := min(importScan, 2*im.batch)
	stored, err := memory.ScanEntries(ctx, v, im.collection, im.namespace, im.after, scan)
	if err != nil {
		return documentStep{}, err
	}
	if own := slices.IndexFunc(stored, func(e memory.Entry) bool { return !strings.HasPrefix(e.ID, im.prefix) || len(e.ID) != len(im.after) }); own >= 0 {
		stored, scan = stored[:own], importScan+1 // the range ends here
	}
	next, last := im.chunks[:min(im.batch, len(im.chunks))], ""
	if len(next) < len(im.chunks) {
		last = next[len(next)-1].ID
	}
	if len(stored) == scan && (last == "" || stored[scan-1].ID < last) {
		last = stored[scan-1].ID
	}
	step := documentStep{last: last, complete: last == ""}
	old := map[string]memory.Entry{}
	for _, e := range stored {
		if step.complete || e.ID <= last {
			old[e.ID] = e
		}
	}
	for _, e := range next {
		if !step.complete && e.ID > last {
			break
		}
		if err := im.store(ctx, v, &step, e, old[e.ID]); err != nil {
			return step, err
		}
		delete(old, e.ID)
	}
	return step, im.remove(ctx, v, &step, old)
}

// store stores an entry. If the same entry is already stored, store does nothing.
func (im *documentImport) store(ctx context.Context, v *memory.View, step *documentStep, e NewEntry, old memory.Entry) error {
	step.taken++
	user := v.Caller().User
	if e.TTL == "" && old.Expires == nil && string(old.Content) == string(e.Content) && string(old.Metadata) == string(e.Metadata) && (old.Author == user || old.User == user) {
		step.unchanged++
		return nil
	}
	_, err := call(ctx, v, abi.Remember, im.collection, e.Content, e.options())
	return err
}

// remove removes the given entries, which are not part of the document anymore.
func (im *documentImport) remove(ctx context.Context, v *memory.View, step *documentStep, old map[string]memory.Entry) error {
	ids := make([]string, 0, len(old))
	for id := range old {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		selector := struct {
			ID        string `json:"id"`
			Namespace string `json:"namespace,omitempty"`
		}{id, im.namespace}
		if _, err := call(ctx, v, abi.Forget, im.collection, selector); err != nil {
			return err
		}
		step.removed++
	}
	return nil
}

// advance updates the import after the transaction of a step. The import then continues with the
// entries that follow.
func (im *documentImport) advance(step documentStep) {
	im.chunks, im.complete = im.chunks[step.taken:], step.complete
	if im.after = step.last; step.complete {
		im.chunks = nil
	}
}
