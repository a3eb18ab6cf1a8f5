package telemetry

import (
	"errors"
	"net/http"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// What comes from a caller or a guest becomes a label only where it is one of a list.

const other = "other"

// codeOf is the code of what a run ended with.
func codeOf(f *abi.Fault) string {
	switch {
	case f == nil:
		return "ok"
	case f.Code.Number() == 0: // an observer may refuse a run with a code of its own
		return other
	}
	return string(f.Code)
}

// callCode is the code of what a memory call was answered with.
func callCode(err error) string {
	if err == nil {
		return "ok"
	}
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return codeOf(f)
	}
	return "ended"
}

// toolOf is the tool of a run, "" where what was asked for may be none.
func toolOf(run host.RunInfo, result *report.Result) string {
	if run.ID == "" || result.Error != nil && result.Error.Code == abi.NotFound && result.Attempts == 0 {
		return ""
	}
	return run.Tool
}

func opOf(event host.CallEvent) string {
	if event.Verb == "" { // a process that a guest took over may send any name
		return other
	}
	return event.Call.Op
}

func levelOf(l abi.Level) string {
	switch l {
	case abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError:
		return string(l)
	}
	return other
}

func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return other
}

// routeOf is a pattern without its method, which is a label of its own.
func routeOf(pattern string) string {
	if pattern == "" {
		return "unmatched"
	}
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return strings.TrimLeft(path, " ")
	}
	return pattern
}

// classOf is the class of a status, such as "2xx"; 0 is the status of who said nothing.
func classOf(status int) string {
	switch {
	case status == 0:
		return "2xx"
	case status < 100 || status > 599:
		return other
	}
	return string(rune('0'+status/100)) + "xx"
}
