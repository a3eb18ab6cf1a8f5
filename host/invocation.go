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
	// User is the id of the user, and Session is the id of the session. If User is "", the tool
	// cannot use per-user stores. If Session is "", the tool cannot use per-session stores.
	User    string
	Session string
	// Workflow is the id of the workflow that the run belongs to. Runs of several sessions can
	// belong to one workflow. A workflow starts when it is first used, and belongs to the first
	// user who uses it. If the caller has a workflow, the workflow owns the facts with the scope
	// execution_tree. If the caller has no workflow, the session owns the facts with the scope
	// execution_tree.
	Workflow string
	// Agent is the id of the agent that is active for the user. With Agent, the blocks of this
	// agent can be used in addition to the blocks of the user. In a turn, the active agent is
	// always the agent that answers.
	Agent string
	// Actor identifies the program or person that made the request. Actor is recorded in the
	// ledger.
	Actor string
	// ActorIsUser is true if Actor is the id of an end user, such as the subject of a token. If
	// ActorIsUser is true, the host does not write Actor to data that cannot be erased, such as log
	// lines.
	ActorIsUser bool
	// If Confined is true, the caller can use only existing sessions of its user. A confined caller
	// can neither choose the id of a new session nor claim an anonymous session. Set Confined if
	// Session is an unverified id from an end user. Confined does not restrict Workflow, so
	// Workflow must be a verified id.
	Confined bool
}

// The method "as" converts c to a memory.Caller, which also contains the id of the run.
func (c Caller) as(run string) partition.Caller {
	if c.Tenant == "" {
		c.Tenant = DefaultTenant
	}
	return partition.Caller{Tenant: c.Tenant, User: c.User, Session: c.Session, Workflow: c.Workflow, Agent: c.Agent, Run: run, Confined: c.Confined}
}

// Invocation is a request to run a tool once.
type Invocation struct {
	// Tool is the name of a declared tool. If Tool is "", the tool that Host.DefaultTool returns is
	// used.
	Tool   string
	Caller Caller
	// Code is nil or an ad-hoc tool, which is run instead of a declared tool. If Code is not nil,
	// Tool is only the name of the tool in the Result.
	Code *AdHocTool
	// Input is the input of the tool. Input must be a JSON object. The default is {}.
	Input json.RawMessage
	// Context is a JSON object whose members are added to the context of the tool. The host also
	// adds members. If Context has a member with the same name as a member of the host, the host's
	// member replaces it. If Context is empty, no members are added.
	Context json.RawMessage
	// Metadata is a JSON Merge Patch (RFC 7396) that is applied to the session's metadata before
	// the run. If the invocation has no session, the metadata exist only during the run.
	Metadata json.RawMessage
	// SessionReference is the id of the session in the platform's own systems, and UserReference is
	// the id of the user there. The host stores these ids with the session.
	SessionReference string
	UserReference    string
	// Key is the idempotency key. If a later invocation has the same key and the same request, it
	// returns the Result of this run and does not execute the tool. After a successful run, the
	// host stores the key for 24 hours. After a failed run, it does not store the key.
	Key string
	// DryRun makes the run a dry run, which does not store anything. The field Changes of the
	// Result lists the changes that a normal run would have made. A dry run ignores Key.
	DryRun bool
	// Test makes the run a test run. A test run is a dry run that makes no external calls and in
	// which all collections are empty. The operation recall has no results except those in Recalls.
	// The field Remembered of the Result lists the entries that remember would have stored.
	Test bool
	// Live allows a dry run to call models. If Live is false, a dry run makes no external calls. A
	// test run ignores Live.
	Live bool
	// Mocks contains answers that replace the answers of the models. If Mocks is nil, the models are
	// called.
	Mocks model.Mocks
	// Recalls contains results that replace the searches in collections. If Recalls contains no
	// results for a collection, the collection is searched. In a test run, no collection is
	// searched.
	Recalls memory.RecallMocks
	// Env contains environment variables. The host adds these variables to the environment
	// variables that the tool declares.
	Env map[string]string
	// Timeout shortens the time limit that the tool declares. If the tool does not declare a time
	// limit, Timeout sets the limit.
	Timeout time.Duration
	// Deadline shortens the deadline of the run. The time to compile the tool, the time in the
	// queue, and the time to wait for the answers of models count toward the deadline. If Deadline
	// is 0, the limits of the tool and of the host apply.
	Deadline time.Duration
	// OnLog is called for each log line of every attempt. OnLog is called as soon as the guest has
	// written the line. OnLog must return quickly. If OnLog is nil, the caller gets the log lines
	// with the Result.
	OnLog func(attempt int, line abi.LogLine)
	// OnState is called with the id of the run whenever the state of the run changes. The first
	// call is made before the host does any work, and reports the state RunQueued. OnState must
	// return quickly. If an earlier run had the same Key, the host returns the Result of that run,
	// and this Result contains the id of that run. OnState can be nil.
	OnState func(id string, state RunState)
}

// RunState is the state of a run that has not ended.
type RunState string

// These are the states of a run that has not ended. If a run needs another attempt, its state is
// RunQueued again.
const (
	// RunQueued is the state of a run that waits for the compilation of its tool or for admission
	// at the gate.
	RunQueued RunState = "queued"
	// RunRunning is the state of a run whose guest executes.
	RunRunning RunState = "running"
)
