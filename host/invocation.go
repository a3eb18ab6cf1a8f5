package host

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
)

// Caller is for whom a tool runs. It comes from what the host's user verified; a guest can neither see
// another one nor name one.
type Caller struct {
	// Tenant is the platform's customer. Default: DefaultTenant.
	Tenant string
	// User and Session are empty where they are not known: then no store of a user, or of a session, can be used.
	User    string
	Session string
	// Actor is who asks, as the platform calls its own programs: the ledger notes it.
	Actor string
	// ActorIsUser reports that Actor is an end user's own id, such as the subject of a token. What an erasure does not
	// reach, such as a log line, then leaves Actor out.
	ActorIsUser bool
	// Confined limits the caller to sessions that are the user's already: it begins none under an id of its own, and
	// binds none that is anonymous. Set it where the id of the session is an end user's word that nobody verified.
	Confined bool
}

// as returns the caller as the packages beneath know it, with the id of a run.
func (c Caller) as(run string) partition.Caller {
	if c.Tenant == "" {
		c.Tenant = DefaultTenant
	}
	return partition.Caller{Tenant: c.Tenant, User: c.User, Session: c.Session, Run: run, Confined: c.Confined}
}

// Invocation is what is asked of a Host: to run a tool once.
type Invocation struct {
	// Tool is the name of a declared tool. Default: Host.DefaultTool.
	Tool   string
	Caller Caller
	// Code is run instead of a declared tool; nil for none. Tool is then what the Result calls it.
	Code *Code
	// Input is a JSON object; nil is an empty one.
	Input json.RawMessage
	// Context is a JSON object whose keys the tool sees in its context, beside the host's own; nil is none.
	Context json.RawMessage
	// Metadata is a merge patch (RFC 7396) on the session's metadata, set before the run; without a session the
	// run alone sees it.
	Metadata json.RawMessage
	// SessionReference and UserReference are the platform's names for them, kept with the session.
	SessionReference string
	UserReference    string
	// Key makes the run idempotent: a later invocation with the same key and input is answered with this run's
	// Result and runs nothing. Kept for 24 hours. Only runs that succeed are kept.
	Key string
	// Dry runs the tool and stores nothing: the Result's Changes tell what would be. Key is then ignored.
	Dry bool
	// Env is added to the environment that the tool declares.
	Env map[string]string
	// Timeout shortens the time that the tool may take, or sets it where the tool declares none.
	Timeout time.Duration
	// OnLog gets log lines as they happen, those of attempts that are run again included. It must return soon.
	// Default: lines are in the Result alone.
	OnLog func(attempt int, line abi.LogLine)
	// OnState gets the id of the run and each state that it enters, one after the other: first RunQueued, before any work is
	// done. It must return soon. An answer from an idempotency key has the id of the earlier run. Default: not called.
	OnState func(id string, state RunState)
}

// RunState is how far a run has come.
type RunState string

// The states of a run. It may be queued again, before another attempt.
const (
	// RunQueued is a run that waits: for its tool to be compiled, or for its turn.
	RunQueued RunState = "queued"
	// RunRunning is a run whose guest is executed.
	RunRunning RunState = "running"
)
