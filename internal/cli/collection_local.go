package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// documentFile is a file to import. The text of the file is stored in a collection.
type documentFile struct {
	name    string // without folders
	content []byte
	query   apitypes.ImportQuery
	// documents extracts the text of files, if the app is open in this process.
	documents *documentReader
	// report is called with the number of stored entries during the import.
	report func(entries int)
}

// localCollections gives an operator access to the collections of an app that is open in this
// process.
type localCollections struct{ host.Collections }

// ImportFile extracts the text of a file and imports the text.
func (l localCollections) ImportFile(ctx context.Context, c host.Caller, name string, f documentFile) (apitypes.ImportedFile, error) {
	done := apitypes.ImportedFile{Source: f.query.Source}
	if err := l.Check(name); err != nil {
		return done, err
	}
	text, err := f.documents.read(ctx, f.name, f.content)
	if err != nil {
		return done, err
	}
	d := host.Document{Source: f.query.Source, Text: text.Text, Namespace: f.query.Namespace, TTL: f.query.TTL}
	if f.query.Metadata != "" {
		d.Metadata = json.RawMessage(f.query.Metadata)
	}
	stored, err := l.ImportDocument(ctx, c, name, d, f.report)
	done.Entries, done.Unchanged, done.Removed, done.Truncated = stored.Entries, stored.Unchanged, stored.Removed, text.Truncated
	return done, err
}

// documentReader extracts the text of files. documentReader starts a worker process for the first
// file that needs a parser.
type documentReader struct {
	out    *console
	pool   *sandbox.Pool
	reader *extract.Reader
}

func (d *documentReader) read(ctx context.Context, name string, content []byte) (extract.Text, error) {
	format, err := extract.IdentifyDocument(name, "", content)
	if err != nil {
		return extract.Text{}, err
	}
	if d.reader == nil && extract.NeedsParser(format) {
		d.pool, err = engines.NewDocumentPool(sandbox.Options{Workers: 1, Spares: -1, CacheDir: d.out.env.cacheFolder("cells"), Logger: d.out.logger()})
		if err != nil {
			return extract.Text{}, usagef("list the available layers with `toolrun doctor`", "%v", err)
		}
		d.reader = &extract.Reader{Engine: d.pool.Engines()[0], Parallel: 1}
	}
	return d.reader.ReadDocument(ctx, admission.Flow{}, name, "", content)
}

// close stops the worker process if a worker process was started.
func (d *documentReader) close() error {
	if d.reader == nil {
		return nil
	}
	return errors.Join(d.reader.Close(), d.pool.Close())
}
