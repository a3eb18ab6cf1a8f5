package telemetry

import (
	"errors"
	"net/http"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// The functions in this file return labels. A value from a caller or a guest becomes a label only
// if it is in a fixed list.

const other = "other"

// codeOf returns the code with which a run ended.
func codeOf(f *abi.Fault) string {
	switch {
	case f == nil:
		return "ok"
	case f.Code.Number() == 0: // observers may set other codes
		return other
	}
	return string(f.Code)
}

// callCode returns the fault code of a memory call.
func callCode(err error) string {
	if err == nil {
		return "ok"
	}
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return codeOf(f)
	}
	return "ended"
}

// toolOf returns the name of a run's tool, or "" if it is not certain that the tool exists.
func toolOf(run host.RunInfo, result *report.Result) string {
	if run.ID == "" || result.Error != nil && result.Error.Code == abi.NotFound && result.Attempts == 0 {
		return ""
	}
	return run.Tool
}

// agentOf returns the name of a turn's agent, or "" if it is not certain that the agent exists.
func agentOf(run host.RunInfo, result *report.Result) string {
	if run.ID == "" || result.Error != nil && result.Error.Code == abi.NotFound && result.Attempts == 0 {
		return ""
	}
	return run.Agent
}

func opOf(event host.CallEvent) string {
	if event.Verb == "" { // a compromised worker may send any name
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

// routeOf returns a route pattern without its method. The method is a separate label.
func routeOf(pattern string) string {
	if pattern == "" {
		return "unmatched"
	}
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return strings.TrimLeft(path, " ")
	}
	return pattern
}

// classOf returns the class of a status, such as "2xx". The status 0 means that no status was
// written.
func classOf(status int) string {
	switch {
	case status == 0:
		return "2xx"
	case status < 100 || status > 599:
		return other
	}
	return string(rune('0'+status/100)) + "xx"
}
