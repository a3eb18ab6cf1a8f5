package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// anchors contains the host records on which a transaction depends. These are the records of the
// caller's session and workflow, and the erasure mark of the caller's user. The erasure mark exists
// if the user was erased.
type anchors struct {
	// sessionKey, workflowKey and erasedKey are the keys of the anchors. If the caller has no
	// session, workflow or user, the corresponding key is "".
	sessionKey, workflowKey, erasedKey storage.Key
	// session, workflow and erased are the records that were read at the start. They are never nil.
	// An absent anchor is the zero Record.
	session, workflow, erased *storage.Record
	// sharedKey is the key of the mark that exists if the user was erased from the blocks that the
	// apps of the tenant share. If the caller has no user or the app has no shared blocks,
	// sharedKey is "". sharedErased is the record that was read under sharedKey.
	sharedKey    storage.Key
	sharedErased *storage.Record
	// anonymous is the content that sessionMeta has if the caller has no session.
	anonymous session.State
	// approved is the record of the approval request, if the run is executed again after an
	// approval. Otherwise, approved is nil.
	approved *storage.Record
}

// absent is the record of an anchor that the caller does not have.
var absent storage.Record

// begin reads the anchors. If the session or the workflow has not started yet, begin starts it.
func (t *transaction) begin(ctx context.Context) error {
	if err := t.readApproval(ctx); err != nil {
		return err
	}
	if t.tx.Caller.Session == "" {
		anonymous, err := t.s.sessions.WithoutSession(t.tx.Session)
		if err != nil {
			return err
		}
		t.anonymous = anonymous
	}
	t.session, t.workflow, t.erased, t.sharedErased = &absent, &absent, &absent, &absent
	keys := t.anchorKeys()
	if len(keys) == 0 {
		return nil
	}
	start := t.tx.Session
	for range 2 {
		records, err := t.s.backend.Get(ctx, keys...)
		if err != nil {
			return err
		}
		t.setAnchors(records)
		used, err := t.use(ctx, start)
		if err != nil || !used {
			return err
		}
		start = session.Start{}
	}
	return nil
}

// readApproval reads the request for the approval after which the run is executed again, if any.
func (t *transaction) readApproval(ctx context.Context) error {
	claim := t.tx.Claim
	if claim == nil {
		return nil
	}
	approved, err := t.s.records.Get(ctx, t.s.approvals.Key(t.tx.Caller, claim.Token))
	if err != nil {
		return err
	}
	t.approved = &approved
	return claim.Check(approved)
}

// use records that the session and the workflow are used, and reports whether it has written a
// record. If the caller cannot use the session or the workflow, the method writes no record.
func (t *transaction) use(ctx context.Context, start session.Start) (bool, error) {
	c := t.tx.Caller
	if t.tx.EndIdle {
		return false, session.CheckIdle(t.s.sessions, *t.session, c, t.s.now())
	}
	staleSession, err := t.s.sessions.Stale(*t.session, c, start)
	if err != nil {
		return false, err
	}
	staleWorkflow, err := t.s.workflows.Stale(*t.workflow, c)
	if err != nil || t.tx.ReadOnly {
		return false, err
	}
	if staleSession {
		err = t.s.sessions.Use(ctx, c, start)
	}
	if err == nil && staleWorkflow {
		err = t.s.workflows.Use(ctx, c)
	}
	return staleSession || staleWorkflow, err
}

// anchorKeys returns the keys of the anchors: one each for the session, the workflow and the user,
// if the caller has them.
func (t *transaction) anchorKeys() []storage.Key {
	c, keys := t.tx.Caller, make([]storage.Key, 0, 3)
	if c.Session != "" {
		t.sessionKey = t.s.app.Session(c)
		keys = append(keys, t.sessionKey)
	}
	if c.Workflow != "" {
		t.workflowKey = t.s.app.Workflow(c)
		keys = append(keys, t.workflowKey)
	}
	if c.User != "" {
		t.erasedKey = t.s.app.Erased(c)
		keys = append(keys, t.erasedKey)
	}
	if c.User != "" && t.s.shared {
		t.sharedKey = partition.Shared.Erased(c)
		keys = append(keys, t.sharedKey)
	}
	return keys
}

// setAnchors stores the records that were read with the keys that anchorKeys returned.
func (t *transaction) setAnchors(records []storage.Record) {
	if t.tx.Caller.Session != "" {
		t.session, records = &records[0], records[1:]
	}
	if t.tx.Caller.Workflow != "" {
		t.workflow, records = &records[0], records[1:]
	}
	if t.tx.Caller.User != "" {
		t.erased, records = &records[0], records[1:]
	}
	if t.sharedKey != "" {
		t.sharedErased = &records[0]
	}
}

// guards returns the conditions of a commit. The conditions concern the anchors and the record of
// the idempotency key.
func (t *transaction) guards() []txn.Guard {
	guards, c := make([]txn.Guard, 0, 4), t.tx.Caller
	if c.Session != "" {
		guards = append(guards, txn.Guard{Key: t.sessionKey, Check: func(now storage.Record, at time.Time) error {
			if t.tx.EndIdle {
				return t.checkIdle(now, at)
			}
			return t.s.sessions.CheckCommit(now, c, t.tx.ReadOnly, at)
		}})
	}
	if c.Workflow != "" {
		guards = append(guards, txn.Guard{Key: t.workflowKey, Check: func(now storage.Record, at time.Time) error {
			return t.s.workflows.CheckCommit(now, c, t.tx.ReadOnly, at)
		}})
	}
	if c.User != "" {
		guards = append(guards, txn.Guard{Key: t.erasedKey, Check: func(now storage.Record, _ time.Time) error {
			return erasedSince(t.erased, &now)
		}})
	}
	if t.sharedKey != "" {
		guards = append(guards, txn.Guard{Key: t.sharedKey, Check: func(now storage.Record, _ time.Time) error {
			return erasedSince(t.sharedErased, &now)
		}})
	}
	if t.tx.Key != "" {
		guards = append(guards, txn.Guard{Key: t.s.app.Finished(c, t.tx.Key), Check: t.checkKey})
	}
	if t.tx.Claim != nil {
		guards = append(guards, txn.Guard{Key: t.s.approvals.Key(c, t.tx.Claim.Token), Check: func(now storage.Record, _ time.Time) error {
			return t.tx.Claim.Check(now)
		}})
	}
	return guards
}

// checkIdle checks a transaction that ends an idle session. If the session has changed since the
// transaction began, checkIdle returns a fault. For example, an upload can change the list of the
// files of the session.
func (t *transaction) checkIdle(now storage.Record, at time.Time) error {
	if !now.SameVersion(*t.session) {
		return abi.Faultf(abi.SessionEnded, "the session has changed since the sweep found it")
	}
	return session.CheckIdle(t.s.sessions, now, t.tx.Caller, at)
}

// erasedSince returns a fault if a user was erased between two reads of the user's erasure mark. If
// only the first read found the mark, a sweep has removed the mark since then.
func erasedSince(before, now *storage.Record) error {
	if !now.Exists() || now.SameVersion(*before) && now.Updated.Equal(before.Updated) {
		return nil
	}
	return abi.Faultf(abi.Cancelled, "the user was erased during the run; nothing was stored")
}

// earlierAnswer is the error of a transaction if another transaction has used the same idempotency
// key in the meantime.
type earlierAnswer struct{ answer []byte }

func (earlierAnswer) Error() string { return "an earlier run used the same idempotency key" }

// checkKey returns an error if another transaction has already used the idempotency key of this
// transaction.
func (t *transaction) checkKey(r storage.Record, _ time.Time) error {
	answer, err := t.finished(r)
	if err == nil && answer != nil {
		return earlierAnswer{answer}
	}
	return err
}
