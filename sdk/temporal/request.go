package temporal

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// Request is what a workflow asks of the activity: to run a tool once.
type Request struct {
	Tool string `json:"tool"`
	// Input is a JSON object; none is an empty one.
	Input json.RawMessage `json:"input,omitempty"`
	// Context is a JSON object whose keys the tool sees in its context; the outputs of earlier nodes are its "steps".
	Context json.RawMessage `json:"context,omitempty"`
	// Metadata is a merge patch on the session's metadata; see host.Invocation.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Env is added to the environment that the tool declares. Temporal keeps it in its history: no secrets.
	Env map[string]string `json:"env,omitempty"`
	// Tenant, User and Session are for whom the tool runs; see Options.Caller.
	Tenant  string `json:"tenant,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
}

// Result is what comes back of a run that succeeded, the same JSON as on every surface.
type Result = report.Result

// Options change what the activity does. Zero fields mean the defaults that their comments name.
type Options struct {
	// Caller says for whom a request is, or refuses it with an *abi.Fault. Default: for those that the request names,
	// which trusts everybody who may start workflows on the worker's task queue.
	Caller func(context.Context, Request) (host.Caller, error)
	// Retryable says whether a run that failed is tried again as the workflow's retry policy says. Default: the function
	// Retryable.
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
