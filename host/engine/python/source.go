package python

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// The limits of a tool's source.
const (
	maxSourceBytes = 1 << 20 // of one file
	maxModules     = 200
	maxFolderBytes = 8 << 20         // of all modules
	maxLookups     = 20 * maxModules // the maximum number of modules that a guest can request
)

// sourceText checks the size and the encoding of a source and removes a byte order mark.
func sourceText(name string, code []byte) (string, error) {
	switch {
	case len(code) > maxSourceBytes:
		return "", broken(name, "%s has %d bytes; the limit for a source file is %d", name, len(code), maxSourceBytes)
	case !utf8.Valid(code):
		return "", broken(name, "%s is not valid UTF-8", name)
	}
	return strings.TrimPrefix(string(code), "\ufeff"), nil
}

// broken returns a fault about a source file.
func broken(name, format string, args ...any) error {
	f := abi.Faultf(abi.SourceInvalid, format, args...)
	f.File = name
	return f
}

// folder reads the modules in a tool's folder. A guest that loads the tool again must get the same
// texts, so folder stores the texts of the modules. folder is safe for concurrent use.
type folder struct {
	files fs.FS

	mu    sync.Mutex
	texts map[string]*string // nil if the module does not exist
	bytes int
	found int
}

func newFolder(files fs.FS) *folder { return &folder{files: files, texts: map[string]*string{}} }

// read returns the text of a module. If the module does not exist, the method returns false. The
// error is a fault with one of these causes: the tool has too many modules, a module is too large,
// or a module is not valid UTF-8.
func (f *folder) read(name string) (string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, known := f.texts[name]
	if !known {
		var err error
		if text, err = f.open(name); err != nil {
			return "", false, err
		}
		f.texts[name] = text
	}
	if text == nil {
		return "", false, nil
	}
	return *text, true, nil
}

func (f *folder) open(name string) (*string, error) {
	if f.files == nil || !fs.ValidPath(name) || path.Ext(name) != ".py" {
		return nil, nil
	}
	if len(f.texts) == maxLookups {
		return nil, broken(name, "the tool imports more than %d names", maxLookups)
	}
	code, ok := readFile(f.files, name)
	if !ok {
		return nil, nil
	}
	text, err := sourceText(name, code)
	if err != nil {
		return nil, err
	}
	f.found, f.bytes = f.found+1, f.bytes+len(text)
	switch {
	case f.found > maxModules:
		return nil, broken(name, "cannot import %s: a tool can import at most %d of its own modules", name, maxModules)
	case f.bytes > maxFolderBytes:
		return nil, broken(name, "cannot import %s: with this module, the tool has %d modules and %d bytes; the limit is %d bytes", name, f.found, f.bytes, maxFolderBytes)
	}
	return &text, nil
}

// readFile reads a file. If the file exceeds the limit, readFile stops one byte after the limit. If
// the file cannot be read, readFile reports that it does not exist, because the error could contain
// a path on the host.
func readFile(files fs.FS, name string) ([]byte, bool) {
	file, err := files.Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	code, err := io.ReadAll(io.LimitReader(file, maxSourceBytes+1))
	return code, err == nil
}

// loadFault returns the fault for a tool that a guest could not load.
func (p *program) loadFault(r *run) error {
	if r.channel.halted != nil {
		return r.channel.halted
	}
	f := broken(p.name, "%s cannot be compiled: the code is too large or nested too deeply", p.name).(*abi.Fault)
	var report failure
	if r.channel.outcome.verb == "error" && json.Unmarshal(r.channel.outcome.rest, &report) == nil {
		f.File, f.Line, f.Column = cmp.Or(report.File, p.name), report.Line, report.Column
		if report.Kind != "memory" && report.Kind != "recursion" {
			f.Message = cut([]byte(f.File+" cannot be compiled: "+strings.TrimPrefix(report.Message, "SyntaxError: ")), maxMessageBytes)
		}
	}
	return f
}

// unreadable returns the fault for a runtime that cannot be read. If a file operation failed, the
// fault contains only the reason, because the error contains a path on the host.
func unreadable(err error) error {
	if f, ok := err.(*abi.Fault); ok {
		return f
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		err = file.Err
	}
	return abi.Faultf(abi.SourceInvalid, "cannot read the Python runtime: %v", err).WithHint(hintRuntime)
}

// named adds the name of the tool's file to a fault about the runtime.
func named(src engine.Source, err error) error {
	f, ok := err.(*abi.Fault)
	if !ok || f.Code != abi.SourceInvalid && f.Code != abi.Unavailable {
		return err
	}
	g := *f
	g.Message, g.File = src.Path+": "+f.Message, src.Path
	return &g
}
