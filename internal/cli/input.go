package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxDocumentBytes is the maximum size of a document in a file or on stdin. All size limits of the
// host are smaller, so that the host reports which limit a document exceeds.
const maxDocumentBytes = 16 << 20

// document returns the JSON document that an argument specifies. The argument is the document, the
// name of a file (@file), or "-" for stdin. For "", the result is nil.
func (e Env) document(ctx context.Context, what, arg string) (json.RawMessage, error) {
	text, err := e.read(ctx, what, arg)
	if err != nil || arg == "" {
		return nil, err
	}
	if err := strictjson.Check(text, strictjson.Limits{}); err != nil {
		doc, ok := errors.AsType[*strictjson.Error](err)
		if ok && doc.Kind != strictjson.Malformed {
			return nil, usagef(overLimitHints[doc.Kind], "%s exceeds a limit for JSON: %v", what, err)
		}
		hint := ""
		if ok && string(text) == arg {
			hint = `quote the JSON for the shell, such as '{"language": "fr"}'`
		}
		return nil, usagef(hint, "%s is not valid JSON: %v", what, err)
	}
	return text, nil
}

// value is like the method "document", but the argument can also be a text without quotes. If the
// text begins like a JSON value, the text must be valid JSON.
func (e Env) value(ctx context.Context, what, arg string) (json.RawMessage, error) {
	isJSON := arg == "" || arg == "-" || strings.ContainsAny(arg[:1], `@{["`) || json.Valid([]byte(arg))
	if isJSON {
		return e.document(ctx, what, arg)
	}
	return strictjson.Encode(arg)
}

// overLimitHints contains the hints for valid JSON that exceeds a limit.
var overLimitHints = map[strictjson.Kind]string{
	strictjson.BadNumber: "write the number as a string, in quotes",
}

// read returns the bytes that an argument specifies. The argument is the text, the name of a file
// (@file), or "-" for stdin.
func (e Env) read(ctx context.Context, what, arg string) ([]byte, error) {
	if arg == "-" {
		return e.readStdin(ctx, what)
	}
	name, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		return []byte(arg), nil
	}
	return e.readFile(what, name)
}

// readStdin returns when stdin ends or when ctx ends. If ctx ends before stdin, the goroutine that
// reads stdin continues, because the process is about to exit.
func (e Env) readStdin(ctx context.Context, what string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readAll(what, e.Stdin)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e Env) readFile(what, name string) ([]byte, error) {
	f, err := os.Open(e.path(name))
	if err != nil {
		return nil, usagef("", "%s: cannot read %s: %v", what, name, cause(err))
	}
	defer f.Close()
	return readAll(what, f)
}

func readAll(what string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxDocumentBytes+1))
	if err != nil {
		return nil, usagef("", "cannot read %s: %v", what, cause(err))
	}
	if len(text) > maxDocumentBytes {
		return nil, usagef("", "%s is larger than %d MiB", what, maxDocumentBytes>>20)
	}
	return text, nil
}

// input returns the input of a run. The input consists of the value of --input and of the key=value
// arguments after the tool.
func (e Env) input(ctx context.Context, arg string, pairs []string) (json.RawMessage, error) {
	base, err := e.document(ctx, "--input", arg)
	if err != nil || len(pairs) == 0 {
		return base, err
	}
	input := map[string]any{}
	if base != nil {
		value, err := strictjson.Decode(base, strictjson.Limits{})
		if err != nil {
			return nil, err
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, abi.Faultf(abi.InputInvalid, "the input must be a JSON object")
		}
		input = object
	}
	seen := map[string]bool{}
	for _, text := range pairs {
		key, value, err := parsePair(text)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, usagef("", "duplicate key %q", key)
		}
		seen[key], input[key] = true, value
	}
	return strictjson.Encode(input)
}

// parsePair parses an argument of the form key=value or key:=json. In the form key=value, the value
// is always a string.
func parsePair(text string) (key string, value any, err error) {
	const hint = "write `key=value` for a string, or `key:=json` for any other value"
	name, value, ok := strings.Cut(text, "=")
	key, isJSON := strings.CutSuffix(name, ":")
	if !ok && strings.ContainsAny(text[:min(len(text), 1)], "@{") {
		return "", nil, usagef("pass JSON or a file with --input, such as --input @input.json", "%q does not have the form key=value", text)
	}
	if !ok || key == "" {
		return "", nil, usagef(hint, "%q does not have the form key=value", text)
	}
	if !utf8.ValidString(text) {
		return "", nil, usagef("", "the value of %q is not valid UTF-8", key)
	}
	if !isJSON {
		return key, value, nil
	}
	parsed, err := strictjson.Decode([]byte(value.(string)), strictjson.Limits{})
	if err != nil {
		reason := err
		doc, ok := errors.AsType[*strictjson.Error](err)
		if ok {
			reason = errors.New(doc.Message)
		}
		if ok && doc.Kind != strictjson.Malformed {
			return "", nil, usagef(overLimitHints[doc.Kind], "the value of %q exceeds a limit for JSON: %v", key, reason)
		}
		return "", nil, usagef(hint, "the value of %q is not valid JSON: %v", key, reason)
	}
	return key, parsed, nil
}

// adviseTypes adds a hint to an error about invalid input. The value of a key=value argument is
// always a string. If the schema does not allow a string for the key, the hint explains how to pass
// another type.
func adviseTypes(err error, pairs []string) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.InputInvalid || f.Hint != "" {
		return err
	}
	for _, v := range f.Violations {
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			if v.Keyword != "type" || v.Pointer != "/"+key {
				continue
			}
			if strictjson.Check([]byte(value), strictjson.Limits{}) != nil {
				value = "JSON"
			}
			return f.WithHint("`%s=...` passes a string; write %s to pass a value of another type", key, shellWord(key+":="+value))
		}
	}
	return err
}
