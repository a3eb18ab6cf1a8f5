package python

import (
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

// What a tool may be made of.
const (
	maxSourceBytes = 1 << 20 // of a file
	maxModules     = 200
	maxFolderBytes = 8 << 20 // of all modules
	maxAsked       = 20 * maxModules
)

// sourceText checks what every source has to be.
func sourceText(name string, code []byte) (string, error) {
	switch {
	case len(code) > maxSourceBytes:
		return "", broken(name, "%s has %d bytes; a source may have %d", name, len(code), maxSourceBytes)
	case !utf8.Valid(code):
		return "", broken(name, "%s is no text in UTF-8", name)
	}
	return strings.TrimPrefix(string(code), "\ufeff"), nil
}

func broken(name, format string, args ...any) error {
	f := abi.Faultf(abi.SourceInvalid, format, args...)
	f.File = name
	return f
}

// folder reads the modules beside a tool. It keeps what it read: a guest that loads the tool again gets the same. It is
// safe for concurrent use.
type folder struct {
	files fs.FS

	mu    sync.Mutex
	texts map[string]*string // nil for what is not there
	bytes int
	found int
}

func newFolder(files fs.FS) *folder { return &folder{files: files, texts: map[string]*string{}} }

// read returns a module, and false where there is none. The error is a fault of the source: there are too many, too
// large ones, or one is no text.
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
	if len(f.texts) == maxAsked {
		return nil, broken(name, "the tool imports more than %d names", maxAsked)
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
		return nil, broken(name, "%s is one module too many: a tool may import %d of its own", name, maxModules)
	case f.bytes > maxFolderBytes:
		return nil, broken(name, "with %s, module %d of its own, the tool imports %d bytes; it may import %d", name, f.found, f.bytes, maxFolderBytes)
	}
	return &text, nil
}

// readFile reads a file, of one that is too large a byte more than it may have. What cannot be read is not there: why
// not may name a path of the host.
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

// loadFault is the fault of a tool that a guest could not load.
func (p *program) loadFault(r *run) error {
	if r.halted != nil {
		return r.halted
	}
	f := broken(p.name, "%s cannot be compiled: its code is nested too deep, or it is too large", p.name).(*abi.Fault)
	var told failure
	if r.outcome.verb == "error" && json.Unmarshal(r.outcome.rest, &told) == nil {
		f.File, f.Line, f.Column = orElse(told.File, p.name), told.Line, told.Column
		if told.Kind != "memory" && told.Kind != "recursion" {
			f.Message = cut([]byte(f.File+" cannot be compiled: "+strings.TrimPrefix(told.Message, "SyntaxError: ")), maxMessageBytes)
		}
	}
	return f
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// unreadable is the fault of a runtime that cannot be had. The error of a file names a path of the host, so only its
// reason is told.
func unreadable(err error) error {
	if f, ok := err.(*abi.Fault); ok {
		return f
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		err = file.Err
	}
	return abi.Faultf(abi.SourceInvalid, "the Python runtime cannot be read: %v", err).WithHint(hintRuntime)
}

// named gives a fault of the runtime the file that could not be loaded for it.
func named(src engine.Source, err error) error {
	f, ok := err.(*abi.Fault)
	if !ok || f.Code != abi.SourceInvalid && f.Code != abi.Unavailable {
		return err
	}
	g := *f
	g.Message, g.File = src.Path+": "+f.Message, src.Path
	return &g
}
