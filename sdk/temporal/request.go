package temporal

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// Request is the argument of the activity: a tool to run once.
type Request struct {
	Tool string `json:"tool"`
	// Input is a JSON object. Default: an empty object.
	Input json.RawMessage `json:"input,omitempty"`
	// Context is a JSON object whose members are added to the context of the tool. "steps" contains
	// the outputs of earlier nodes.
	Context json.RawMessage `json:"context,omitempty"`
	// Metadata is a merge patch for the session's metadata; see host.Invocation.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Env is added to the environment that the tool declares. Temporal stores it in its history, so
	// it must not contain secrets.
	Env map[string]string `json:"env,omitempty"`
	// Tenant, User and Session identify the caller; see Options.Caller.
	Tenant  string `json:"tenant,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
}

// Result is the result of a successful run, with the same JSON as on every surface.
type Result = report.Result

// Options configure the activity. The zero value of each field means its default.
type Options struct {
	// Caller returns the Caller of a request, or rejects it with an *abi.Fault. Default: the caller
	// that the request names, which trusts everyone who can start workflows on the task queue of
	// the worker.
	Caller func(context.Context, Request) (host.Caller, error)
	// Retryable reports whether a failed run is retried by the retry policy of the workflow.
	// Default: the function Retryable.
	Retryable func(*abi.Fault) bool
}

func (o Options) withDefaults() Options {
	if o.Caller == nil {
		o.Caller = func(_ context.Context, r Request) (host.Caller, error) {
			return host.Caller{Tenant: r.Tenant, User: r.User, Session: r.Session}, nil
		}
	}
	if o.Retryable == nil {
		o.Retryable = Retryable
	}
	return o
}
