package temporal

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// Request is the argument of the activity RunTool.
type Request struct {
	Tool string `json:"tool"`
	// Input is the input of the tool, which must be a JSON object. The default is {}.
	Input json.RawMessage `json:"input,omitempty"`
	// Context is a JSON object whose members are added to the context of the tool. The member
	// "steps" contains the outputs of earlier nodes.
	Context json.RawMessage `json:"context,omitempty"`
	// Metadata is a JSON Merge Patch for the session's metadata; see host.Invocation.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Env contains environment variables in addition to those that the tool declares. Temporal
	// stores environment variables in the history of the workflow, so they must not contain
	// secrets.
	Env map[string]string `json:"env,omitempty"`
	// Tenant, User and Session identify the caller; see Options.Caller.
	Tenant  string `json:"tenant,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
	// Workflow is the id of the toolrun workflow that the run belongs to, which owns the facts with
	// the scope execution_tree. The id of the Temporal workflow is a suitable value, because all
	// runs of the Temporal workflow then share these facts. By default, the session owns these
	// facts.
	Workflow string `json:"workflow,omitempty"`
}

// Result is the result of a run. The JSON of a Result is the same in all interfaces of toolrun.
type Result = report.Result

// Options configure the activity. A field of Options that is zero has its default value.
type Options struct {
	// Caller returns the Caller of a request. To reject the request, Caller returns an *abi.Fault.
	// By default, the request determines the caller. Use the default only if you trust every client
	// that can start workflows on the task queue of the worker.
	Caller func(context.Context, Request) (host.Caller, error)
	// Retryable reports whether the retry policy of the workflow applies to a failed run. The
	// default of the field Retryable is the function Retryable.
	Retryable func(*abi.Fault) bool
}

func (o Options) withDefaults() Options {
	if o.Caller == nil {
		o.Caller = func(_ context.Context, r Request) (host.Caller, error) {
			return host.Caller{Tenant: r.Tenant, User: r.User, Session: r.Session, Workflow: r.Workflow}, nil
		}
	}
	if o.Retryable == nil {
		o.Retryable = Retryable
	}
	return o
}
