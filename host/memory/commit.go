package memory

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// runRetention is the lifetime of the mark of a committed run. The commit writes a mark if it
// writes no other record that contains the id of the run.
const runRetention = time.Hour

// options returns the options for package txn.
func (t *transaction) options() txn.Options {
	return txn.Options{
		ID: t.tx.Caller.Run, Guards: t.guards(), Live: t.life, DryRun: t.tx.DryRun, CommitAlways: t.tx.Key != "" || t.tx.EndIdle || t.tx.Claim != nil,
		Extra: t.extraKeys, OnCommit: t.onCommit, Quota: (*quota)(t),
	}
}

// extraKeys returns the keys that onCommit can write.
func (t *transaction) extraKeys() []storage.Key {
	keys := []storage.Key{t.s.app.Run(t.tx.Caller)}
	if t.tx.Key != "" {
		keys[0] = t.s.app.Finished(t.tx.Caller, t.tx.Key)
	}
	if t.recordsEntry() {
		keys = append(keys, t.s.ledger.Key(t.tx.Caller, t.tx.LedgerEntry.Run))
	}
	if t.tx.EndIdle {
		keys = append(keys, t.sessionKey)
	}
	if claim := t.tx.Claim; claim != nil {
		keys = append(keys, t.s.approvals.Key(t.tx.Caller, claim.Token), t.s.approvals.RunKey(t.tx.Caller, claim.Token))
	}
	return keys
}

// recordsEntry reports whether the commit writes a ledger entry.
func (t *transaction) recordsEntry() bool { return t.tx.LedgerEntry != nil && t.s.ledger.Enabled() }

// onCommit returns the host records of a run. These can be the ledger entry, the end of an approval
// request, and either the end of an idle session or the answer under the idempotency key. If a run
// has no idempotency key and only removes records, onCommit also returns a mark for the commit.
func (t *transaction) onCommit(e txn.Effects) ([]storage.Write, error) {
	var writes []storage.Write
	if t.recordsEntry() {
		effects := t.effects(e)
		entry := *t.tx.LedgerEntry
		entry.Attempts, entry.Reads, entry.Writes = e.Attempts, effects.Reads, effects.Writes
		entryWrites, err := t.s.ledger.Append(nil, t.tx.Caller, entry)
		if err != nil {
			return nil, err
		}
		writes = entryWrites
	}
	if t.tx.Claim != nil {
		ended, err := t.s.approvals.End(writes, t.tx.Caller, *t.approved, approval.Ending{Claim: t.tx.Claim})
		if err != nil {
			return nil, err
		}
		writes = ended
	}
	switch {
	case t.tx.EndIdle:
		end, err := session.Tombstone(t.s.sessions, *t.session, t.tx.Caller)
		return append(writes, end), err
	case t.tx.Key != "":
		content, err := t.kept(t.effects(e))
		if err != nil {
			return nil, err
		}
		writes = append(writes, t.hostRecord(t.s.app.Finished(t.tx.Caller, t.tx.Key), content, t.s.keyRetention))
	case removesSomething(e):
		writes = append(writes, t.hostRecord(t.s.app.Run(t.tx.Caller), []byte("{}"), runRetention))
	}
	return writes, nil
}

// removesSomething reports whether a commit removes records and writes no records. After such a
// commit, no record contains the id of the run.
func removesSomething(e txn.Effects) bool {
	removes := false
	for _, c := range e.Writes {
		if c.New.Exists() {
			return false
		}
		removes = removes || c.Old.Exists()
	}
	return removes
}

// hostRecord returns a host record. The record expires with the caller's session and workflow.
func (t *transaction) hostRecord(key storage.Key, content []byte, retention time.Duration) storage.Write {
	c := t.tx.Caller
	return storage.Write{Record: storage.Record{
		Key: key, Content: content, Expires: t.view.Now().Add(retention),
		Tags: partition.Tags(key, c, partition.Lifetime{Session: c.Session, Workflow: c.Workflow}),
	}}
}

// quota implements txn.Quota for the commit of a transaction.
type quota transaction

var _ txn.Quota = (*quota)(nil)

// Budget implements txn.Quota.
func (q *quota) Budget() storage.Budget { return (*transaction)(q).budget() }

// Reclaim implements txn.Quota.
func (q *quota) Reclaim(ctx context.Context) bool { return reclaim(ctx, q.s, q.tx.Caller) }

// isHidden reports whether a key is the key of a scheduled run or the key of a collection's
// embedder. The effects of a run do not contain such records.
func isHidden(key storage.Key) bool {
	if key == "" || storage.Tag(key[0]) != storage.System {
		return false
	}
	of := key.Part(storage.System)
	return of == partition.SleepDue || of == partition.Embedding
}

// effects returns the names of the stores that an attempt has read and written.
func (t *transaction) effects(e txn.Effects) report.Effects {
	effects := report.Effects{
		Reads: make([]report.ReadEffect, 0, len(e.Reads)), Writes: make([]report.WriteEffect, 0, len(e.Writes)),
	}
	for _, r := range e.Reads {
		if isHidden(r.Key) {
			continue
		}
		store, item := t.view.nameOf(r.Key)
		effects.Reads = append(effects.Reads, report.ReadEffect{Store: store, Item: item, Revision: r.Revision})
	}
	for i := range e.Writes {
		c := &e.Writes[i]
		if isHidden(c.Key) {
			continue
		}
		store, item := t.view.nameOf(c.Key)
		effect := report.WriteEffect{Store: store, Item: item, Revision: c.New.Revision, Op: "set"}
		effect.Violations, _ = c.Warnings.([]abi.Violation)
		if !c.New.Exists() {
			effect.Op = "delete"
		}
		effects.Writes = append(effects.Writes, effect)
	}
	return effects
}

// changes returns the changes to records that a dry run would have stored.
func (t *transaction) changes(e txn.Effects) []report.Change {
	list := []report.Change{}
	for i := range e.Writes {
		c := &e.Writes[i]
		if isHidden(c.Key) {
			continue
		}
		st, item := t.view.storeOf(c.Key)
		list = append(list, report.Change{Store: st.Name, Item: item, Before: st.show(&c.Old), After: st.show(&c.New)})
	}
	return list
}

// remembered returns the entries of collections that a dry run would have stored.
func (t *transaction) remembered(e txn.Effects) []report.Remembered {
	list := []report.Remembered{}
	for i := range e.Writes {
		c := &e.Writes[i]
		st, _ := t.view.storeOf(c.Key)
		if st == nil || st.Kind != declare.KindCollection || !c.New.Exists() {
			continue
		}
		name := strings.TrimPrefix(c.Key.Part(storage.Namespace), "/")
		entry := report.Remembered{Collection: st.Name, Namespace: name, ID: c.Key.Part(storage.Item)}
		var shown struct {
			Content  json.RawMessage `json:"content"`
			Metadata json.RawMessage `json:"metadata"`
		}
		if json.Unmarshal(st.show(&c.New), &shown) != nil {
			continue // the entry is well-formed, because this run created it
		}
		entry.Content, entry.Metadata = shown.Content, shown.Metadata
		if len(entry.Metadata) == 0 {
			entry.Metadata = json.RawMessage("{}")
		}
		if !c.New.Expires.IsZero() {
			entry.Expires = &c.New.Expires
		}
		list = append(list, entry)
	}
	return list
}

var null = json.RawMessage("null")

// show returns the content of a record in readable form. If the record does not exist, the method
// returns null.
func (st *store) show(r *storage.Record) json.RawMessage {
	if !r.Exists() {
		return null
	}
	return st.compiled.Show(r.Content)
}
