package session

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// family contains the differences between sessions and workflows.
type family struct {
	// noun is the word for a record of the family in faults.
	noun string
	// kind is the System part of all keys of the family. part is the key part that contains the id.
	// prefix is the prefix of the keys of all records of the family.
	kind   string
	part   storage.Tag
	prefix storage.Key
	// ended is the code of faults for ids that are no longer usable.
	ended abi.Code
	// id returns the id of the session or the workflow in a caller. The function "with" returns a
	// copy of the caller with another id.
	id   func(c partition.Caller) string
	with func(c partition.Caller, id string) partition.Caller
	// key returns the key of the caller's record. erased returns the key of a mark. If the mark
	// exists, the user of the caller's record was erased.
	key    func(app partition.App, c partition.Caller) storage.Key
	erased func(app partition.App, c partition.Caller) storage.Key
	// tag returns the tag of records that end with the session or the workflow.
	tag func(id string) string
	// byClaim is true if the id is always a verified id. If byClaim is true, confined callers have
	// no further restriction.
	byClaim bool
}

func prefixOf(kind string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.System, Value: kind})
}

var sessions = family{
	noun: "session", kind: partition.Session, part: storage.Session, prefix: prefixOf(partition.Session), ended: abi.SessionEnded,
	id:     func(c partition.Caller) string { return c.Session },
	with:   func(c partition.Caller, id string) partition.Caller { c.Session = id; return c },
	key:    partition.App.Session,
	erased: partition.App.ErasedSession,
	tag:    partition.SessionTag,
}

var workflows = family{
	noun: "workflow", kind: partition.Workflow, part: storage.Workflow, prefix: prefixOf(partition.Workflow), ended: abi.WorkflowEnded, byClaim: true,
	id:     func(c partition.Caller) string { return c.Workflow },
	with:   func(c partition.Caller, id string) partition.Caller { c.Workflow = id; return c },
	key:    partition.App.Workflow,
	erased: partition.App.ErasedWorkflow,
	tag:    partition.WorkflowTag,
}

// checkConfined returns a fault if a confined caller uses a session that is not bound to the
// caller's user. The fault does not depend on whether the session belongs to another user, is
// anonymous, or does not exist. Therefore, the fault of checkConfined does not reveal which ids
// exist.
func (f *family) checkConfined(c partition.Caller, state State) error {
	if f.byClaim || !c.Confined || f.id(c) == "" || c.User != "" && state.User == c.User {
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "the user has no %s with this id", f.noun).
		WithHint("omit the id to start a new %s, or use a token whose %s claim contains this id", f.noun, f.noun)
}

// errOtherUser returns the fault for a session that belongs to another user.
func (f *family) errOtherUser(c partition.Caller) error {
	fault := abi.Faultf(abi.AccessDenied, "the %s belongs to another user", f.noun)
	if c.User == "" {
		return fault.WithHint("set `user_id` to the user of the %s", f.noun)
	}
	return fault.WithHint("use a %s of this user", f.noun)
}

func (f *family) errNotFound() error {
	return abi.Faultf(abi.NotFound, "the %s does not exist", f.noun)
}

// reading returns a description of a read operation. The description appears in logs.
func (f *family) reading() string { return "read a " + f.noun }
