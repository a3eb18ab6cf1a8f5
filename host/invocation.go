package host

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/partition"
)

// Caller identifies the user, session and tenant that a tool runs for. The embedding program must
// set it to authenticated values. A guest can neither see nor select another caller.
type Caller struct {
	// Tenant is the id of the platform's customer. The default is DefaultTenant.
	Tenant string
	// User and Session are the ids of the user and the session. If the caller has no user, per-user
	// stores cannot be used. If the caller has no session, per-session stores cannot be used.
	User    string
	Session string
	// Workflow is the id of the workflow that the run belongs to. Runs of several sessions can
	// belong to one workflow. A workflow starts with its first use, belongs to its first user, and
	// owns the facts with the scope execution_tree. If the caller has no workflow, the session owns
	// the facts with the scope execution_tree.
	Workflow string
	// Agent is the id of the agent that is active for the user. Agent selects the blocks of an
	// agent, in addition to the blocks of the user. In a turn, the agent that answers is the active
	// agent.
	Agent string
	// Actor identifies the program or person that made the request. Actor is recorded in the
	// ledger.
	Actor string
	// ActorIsUser is true if Actor is the id of an end user, such as the subject of a token. If
	// ActorIsUser is true, Actor is omitted from data that cannot be erased, such as log lines.
	ActorIsUser bool
	// Confined restricts the caller to existing sessions of its user. A confined caller can neither
	// choose the id of a new session nor claim an anonymous session. Set Confined if Session is an
	// unverified id from an end user. Confined has no effect on Workflow, so Workflow must be a
	// verified id.
	Confined bool
}

// The method "as" converts c to the Caller of package memory and adds the id of a run.
func (c Caller) as(run string) partition.Caller {
	if c.Tenant == "" {
		c.Tenant = DefaultTenant
	}
	return partition.Caller{Tenant: c.Tenant, User: c.User, Session: c.Session, Workflow: c.Workflow, Agent: c.Agent, Run: run, Confined: c.Confined}
}

// Invocation is a request to run a tool once.
type Invocation struct {
	// Tool is the name of a declared tool. The default is the result of Host.DefaultTool.
	Tool   string
	Caller Caller
	// Code is an ad-hoc tool to run instead of a declared tool, or nil. If Code is not nil, Tool is
	// only the name of the tool in the Result.
	Code *AdHocTool
	// Input is the input, a JSON object. The default is {}.
	Input json.RawMessage
	// Context is a JSON object whose members are added to the context of the tool. The host
	// overwrites members of Context that have the name of one of its own members. If Context is
	// empty, no members are added.
	Context json.RawMessage
	// Metadata is a JSON Merge Patch (RFC 7396) that is applied to the session's metadata before
	// the run. If the invocation has no session, only the run sees the metadata.
	Metadata json.RawMessage
	// SessionReference and UserReference are ids of the session and the user in the platform's own
	// systems. The host stores these ids with the session.
	SessionReference string
	UserReference    string
	// Key is the idempotency key. A later invocation with the same key and the same request returns
	// the Result of this run and does not execute the tool. The host stores idempotency keys only
	// for successful runs, for 24 hours.
	Key string
	// DryRun makes the run a dry run, which does not store anything. The field Changes of the
	// Result lists the changes that a normal run would have made. A dry run ignores Key.
	DryRun bool
	// Test makes the run a test run. A test run is a dry run without external calls and with empty
	// collections: recall has no results, unless Recalls contains them. The field Remembered of the
	// Result lists the entries that remember would have stored.
	Test bool
	// Live allows a dry run to call models. If Live is false, a dry run makes no external calls.
	// Live has no effect on a test run.
	Live bool
	// Mocks contains answers that replace the answers of the models. If Mocks is nil, the models are
	// called.
	Mocks model.Mocks
	// Recalls contains results that replace the searches in collections. Collections without a
	// result in Recalls are searched, except in a test run.
	Recalls memory.RecallMocks
	// Env contains environment variables in addition to those that the tool declares.
	Env map[string]string
	// Timeout shortens the time limit that the tool declares. If the tool does not declare a time
	// limit, Timeout sets the limit.
	Timeout time.Duration
	// Deadline shortens the time limit for the whole run, which includes compiling, queueing and
	// waiting for the answers of models. By default, the limits of the tool and of the host apply.
	Deadline time.Duration
	// OnLog is called for each log line of every attempt as soon as the guest has written the line.
	// OnLog must return quickly. If OnLog is nil, log lines are only in the Result.
	OnLog func(attempt int, line abi.LogLine)
	// OnState is called with the id of the run whenever the state of the run changes. The first
	// call reports RunQueued before the host does any work. OnState must return quickly. If the
	// host returns the Result of an earlier run with the same Key, the Result contains the id of
	// the earlier run. OnState can be nil.
	OnState func(id string, state RunState)
}

// RunState is the state of a run that has not ended.
type RunState string

// The states of a run. If a run needs another attempt, its state is RunQueued again.
const (
	// RunQueued is the state of a run that waits for the compilation of its tool or for admission
	// at the gate.
	RunQueued RunState = "queued"
	// RunRunning is the state of a run whose guest executes.
	RunRunning RunState = "running"
)
