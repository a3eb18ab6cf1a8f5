package bundle

import (
	"context"
	"errors"
	"path"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/crash"
)

// The limits of a tool's code.
const (
	// MaxEntryBytes is the maximum size of the entry file.
	MaxEntryBytes = 1 << 20
	// MaxBytes is the maximum total size of a tool's files, including its packages and their
	// package.json files.
	MaxBytes = 4 << 20
	// MaxFiles is the maximum number of bundled files.
	MaxFiles = 1000
)

// Form describes how a tool declares its entry.
type Form string

// The forms.
const (
	Body    Form = "body"    // statements, which can use await and return at the top level
	Main    Form = "main"    // a function main that is not exported
	Execute Form = "execute" // a function execute that is not exported
	Module  Form = "module"  // an ES or CommonJS module that exports its entry
)

// Bundle is a tool compiled into one script. Bundle is immutable and safe for concurrent use.
type Bundle struct {
	// Code is the script. The completion value of the script is a function entry(input, context).
	// The function runs the whole tool, including the top-level code, and returns the result or a
	// promise of the result. The script needs only the globals that the language defines.
	Code string
	// Form is the form of the entry file.
	Form Form
	// Inputs contains the sorted names of the inputs that the tool reads as $name.
	Inputs []string
	// Warnings contains messages for the author of the tool about likely mistakes.
	Warnings []string

	positions positions
}

// Position maps a position in Code to a position in the author's files. Lines and columns count
// from 1. Columns count UTF-16 code units, as editors do. The returned path is relative to the
// tool's folder.
func (b *Bundle) Position(line, column int) (file string, l, c int, ok bool) {
	p, ok := b.positions.find(line-prologueLines, column)
	return p.file, p.line, p.column, ok
}

// Build bundles a tool. If Build fails, the error is an *abi.Fault. A fault with the code
// source_invalid contains the author's file, line and column. A fault with the code timeout or
// cancelled means that ctx ended during the build. The parsers then continue in the background. If
// a source makes goja's parser panic, Build panics with a *crash.Crash. Build is safe for
// concurrent use.
func Build(ctx context.Context, src engine.Source) (*Bundle, error) {
	if err := ctx.Err(); err != nil {
		return nil, stopped(err)
	}
	type outcome struct {
		bundle *Bundle
		fault  *abi.Fault
		crash  *crash.Crash
	}
	// The parsers cannot be interrupted. If ctx ends, Build therefore stops waiting, and the
	// parsers continue.
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.crash = crash.Of(recover())
			done <- o
		}()
		o.bundle, o.fault = build(src)
	}()
	select {
	case o := <-done:
		if o.crash != nil {
			panic(o.crash) // the caller can recover only a panic on its own goroutine
		}
		if o.fault != nil {
			return nil, o.fault
		}
		return o.bundle, nil
	case <-ctx.Done():
		return nil, stopped(ctx.Err())
	}
}

func build(src engine.Source) (*Bundle, *abi.Fault) {
	src.Path = path.Clean(src.Path)
	t, fault := readTool(src)
	if fault != nil {
		return nil, fault
	}
	e, fault := t.entry(src.Params)
	if fault != nil {
		return nil, fault
	}
	out, fault := pack(e, src)
	if fault != nil {
		return nil, fault
	}
	return &Bundle{
		Code:      e.enclose(out.code),
		Form:      e.form,
		Inputs:    e.inputs,
		Warnings:  append(e.warnings, out.warnings...),
		positions: out.positions,
	}, nil
}

// tool is the entry file together with the result of its scan.
type tool struct {
	path  string
	code  string
	lang  language
	lines int
	scan  scan
}

func readTool(src engine.Source) (*tool, *abi.Fault) {
	if len(src.Code) > MaxEntryBytes {
		return nil, invalid(location{file: src.Path}, "the file is larger than %d bytes", MaxEntryBytes)
	}
	if !utf8.Valid(src.Code) {
		return nil, invalid(location{file: src.Path}, "the file is not UTF-8 text")
	}
	t := &tool{path: src.Path, code: neutralize(src.Code), lang: languageOf(src.Path)}
	t.lines = countLines(t.code)
	var fault *abi.Fault
	if t.scan, fault = scanSource(t.path, t.code, t.lang); fault != nil {
		return nil, fault
	}
	if at := t.scan.regexp; at >= 0 {
		return nil, unsupportedRegexp(t.path, t.code, at)
	}
	return t, nil
}

// language is the language of a file.
type language uint8

const (
	unknown language = iota
	javascript
	typescript
	jsonText
)

// languages maps the extensions of the files that can be bundled to their languages.
var languages = map[string]language{
	".js": javascript, ".mjs": javascript, ".cjs": javascript,
	".ts": typescript, ".mts": typescript, ".cts": typescript,
	".json": jsonText,
}

// languageOf returns the language of an entry file. The default is JavaScript.
func languageOf(name string) language {
	if languages[path.Ext(name)] == typescript {
		return typescript
	}
	return javascript
}

func stopped(err error) *abi.Fault {
	if errors.Is(err, context.DeadlineExceeded) {
		return abi.Faultf(abi.Timeout, "bundling the tool exceeded the time limit")
	}
	return abi.Faultf(abi.Cancelled, "bundling the tool was canceled")
}
