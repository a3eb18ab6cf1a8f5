package host

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
)

// Caller identifies on whose behalf a tool runs. The embedding program sets it from what it has
// authenticated. A guest cannot see or name another caller.
type Caller struct {
	// Tenant is the platform's customer. Default: DefaultTenant.
	Tenant string
	// User and Session are the ids of the user and the session. If one is empty, the stores of its
	// scope cannot be used.
	User    string
	Session string
	// Actor identifies the program or person that made the request, for the ledger.
	Actor string
	// ActorIsUser reports that Actor is an end user's own id, such as the subject of a token. Actor
	// is then omitted from data that an erasure does not reach, such as log lines.
	ActorIsUser bool
	// Confined limits the caller to existing sessions of its user: it cannot start a session with
	// an id of its own choice, nor claim an anonymous one. Set it if the session id comes from an
	// end user and is not verified.
	Confined bool
}

// as converts the caller to the type of the packages below, with the id of a run.
func (c Caller) as(run string) partition.Caller {
	if c.Tenant == "" {
		c.Tenant = DefaultTenant
	}
	return partition.Caller{Tenant: c.Tenant, User: c.User, Session: c.Session, Run: run, Confined: c.Confined}
}

// Invocation is a request to run a tool once.
type Invocation struct {
	// Tool is the name of a declared tool. Default: Host.DefaultTool.
	Tool   string
	Caller Caller
	// Code is run instead of a declared tool; nil means none. Tool is then the name in the Result.
	Code *AdHocTool
	// Input is a JSON object. Default: an empty one.
	Input json.RawMessage
	// Context is a JSON object whose members are added to the tool's context. Members that the host
	// sets win. Default: none.
	Context json.RawMessage
	// Metadata is a merge patch (RFC 7396) that is applied to the session's metadata before the
	// run. Without a session only the run sees it.
	Metadata json.RawMessage
	// SessionReference and UserReference are the platform's own ids of the session and the user.
	// They are stored with the session.
	SessionReference string
	UserReference    string
	// Key is the idempotency key. A later invocation with the same key and input returns the Result
	// of this run and executes nothing. Keys are kept for 24 hours, and only for runs that succeed.
	Key string
	// DryRun makes the run a dry run: it stores nothing, the Result's Changes contain what it would
	// have changed, and Key is ignored.
	DryRun bool
	// Env is added to the environment that the tool declares.
	Env map[string]string
	// Timeout shortens the tool's time limit, or sets it if the tool does not declare one.
	Timeout time.Duration
	// OnLog is called for each log line as it is written, in every attempt. It must return quickly.
	// Default: log lines are only in the Result.
	OnLog func(attempt int, line abi.LogLine)
	// OnState is called with the id of the run and each state that it enters, in order; the first
	// one is RunQueued, before any work is done. It must return quickly. If the Result of an
	// earlier run is returned for Key, the Result contains the id of that run instead. Default: not
	// called.
	OnState func(id string, state RunState)
}

// RunState is the progress of a run.
type RunState string

// The states of a run. A run is queued again before another attempt.
const (
	// RunQueued is the state of a run that waits for its tool to be compiled or for its turn at the
	// gate.
	RunQueued RunState = "queued"
	// RunRunning is the state of a run whose guest executes.
	RunRunning RunState = "running"
)
