package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// UserData reads all data of one user in chunks of limited size. UserData reads the data that Erase
// would remove, except for expired records. UserData does not use a snapshot. If the data change
// during the read, the result can contain some of the changes. UserData is not safe for concurrent
// use.
type UserData struct {
	s      *Service
	caller partition.Caller
	life   *lifetimes
	// These fields contain the ids of the user's sessions and workflows.
	sessions, workflows []string
}

// A UserRecord belongs to a user, to a session of the user, or to a workflow of the user.
type UserRecord struct {
	RecordInfo
	Content json.RawMessage `json:"content"`
}

// UserData returns a reader for the data of the caller's user in the caller's tenant.
func (s *Service) UserData(ctx context.Context, c partition.Caller) (*UserData, error) {
	if c.User == "" {
		return nil, abi.Faultf(abi.InvalidArgument, "an export of user data requires a user")
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Session, c.Workflow = "", ""
	d := &UserData{s: s, caller: c, life: newLifetimes(s)}
	var err error
	if d.sessions, err = s.sessions.IDs(ctx, c); err == nil {
		d.workflows, err = s.workflows.IDs(ctx, c)
	}
	return d, s.records.Fault(exportingUser, err)
}

const exportingUser = "export a user's data"

// Records visits the records of the user. Records also visits the records of the user's sessions
// and workflows. Records visits all stores, even stores that are no longer declared.
func (d *UserData) Records(ctx context.Context, visit func(UserRecord) error) error {
	one := func(r storage.Record) error { return d.record(ctx, r, visit) }
	err := d.scan(ctx, d.s.app.Group(d.caller), one)
	if err == nil && d.s.shared {
		shared := partition.Shared
		err = d.s.records.ScanTag(ctx, shared.OfUser(d.caller, shared.Group(d.caller)), d.eachContent(ctx, one))
	}
	return d.s.records.Fault(exportingUser, err)
}

// Sessions visits the sessions of the user. Sessions also visits ended sessions whose ids cannot be
// reused yet.
func (d *UserData) Sessions(ctx context.Context, visit func(session.Session) error) error {
	return d.s.records.Fault(exportingUser, d.eachSession(ctx, func(r storage.Record, _ session.State) error {
		described, err := d.s.sessions.Describe(r)
		if err != nil {
			return err
		}
		return visit(described)
	}))
}

// Workflows visits the workflows of the user. Workflows also visits ended workflows whose ids
// cannot be reused yet.
func (d *UserData) Workflows(ctx context.Context, visit func(session.Workflow) error) error {
	return d.s.records.Fault(exportingUser, d.eachWorkflow(ctx, func(r storage.Record) error {
		described, err := d.s.workflows.Describe(r)
		if err != nil {
			return err
		}
		return visit(described)
	}))
}

// Files visits the files in the sessions of the user. To read the contents of a file, use the
// method artifact.Artifacts.Piece.
func (d *UserData) Files(ctx context.Context, visit func(session string, file artifact.Artifact) error) error {
	return d.s.records.Fault(exportingUser, d.eachSession(ctx, func(r storage.Record, state session.State) error {
		files, err := artifact.Live(state.Files, d.s.now())
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := visit(r.Key.Part(storage.Session), file); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Results visits the user's Results. The Results of the user were stored under idempotency keys.
func (d *UserData) Results(ctx context.Context, visit func(key string, result json.RawMessage) error) error {
	return d.s.records.Fault(exportingUser, d.scan(ctx, d.s.app.System(partition.Finished, d.caller), func(r storage.Record) error {
		if r.Expired(d.s.now()) {
			return nil
		}
		var state finishedState
		if err := json.Unmarshal(r.Content, &state); err != nil {
			return fmt.Errorf("finished run: %w: %w", storage.ErrCorrupt, err)
		}
		return visit(r.Key.Part(storage.Item), state.Answer)
	}))
}

// Approvals visits the approval requests of the user's runs. The argument "run" of the function
// "visit" is the paused run. If the request was decided, the argument is nil.
func (d *UserData) Approvals(ctx context.Context, visit func(request approval.Approval, run []byte) error) error {
	return d.s.records.Fault(exportingUser, d.scan(ctx, d.s.app.System(partition.Approval, d.caller), func(r storage.Record) error {
		if r.Expired(d.s.now()) {
			return nil
		}
		found, err := approval.Decode(r, d.s.now())
		if err != nil {
			return err
		}
		run, err := d.s.approvals.Run(ctx, d.caller, found.Token)
		if err != nil {
			return err
		}
		return visit(found, run)
	}))
}

// Entries visits the ledger entries that contain the id of the user. Entries also visits entries
// without a user that belong to a session or a workflow of the user.
func (d *UserData) Entries(ctx context.Context, visit func(ledger.Entry) error) error {
	return d.s.records.Fault(exportingUser, d.scan(ctx, d.s.app.System(partition.Ledger, d.caller), func(r storage.Record) error {
		e, err := ledger.Decode(r)
		if err != nil || r.Expired(d.s.now()) {
			return err
		}
		return visit(e)
	}))
}

// scan visits the records of the user under a prefix. A session or workflow can have records that
// are older than its binding to the user. The method also visits these records.
func (d *UserData) scan(ctx context.Context, prefix storage.Key, visit func(storage.Record) error) error {
	each := d.eachContent(ctx, visit)
	if err := d.s.records.ScanTag(ctx, d.s.app.OfUser(d.caller, prefix), each); err != nil {
		return err
	}
	subjects := []string{storage.SubjectTag(d.caller.User)}
	err := d.eachSession(ctx, func(r storage.Record, _ session.State) error {
		subjects = append(subjects, storage.SubjectTag(partition.AnonymousSubject(r.Key.Part(storage.Session))))
		return d.s.records.ScanTag(ctx, d.s.app.Tagged(d.caller, subjects[len(subjects)-1], prefix), each)
	})
	if err != nil {
		return err
	}
	return d.eachWorkflow(ctx, func(r storage.Record) error {
		id := r.Key.Part(storage.Workflow)
		subjects = append(subjects, storage.SubjectTag(partition.AnonymousWorkflow(id)))
		if err := d.s.records.ScanTag(ctx, d.s.app.Tagged(d.caller, subjects[len(subjects)-1], prefix), each); err != nil {
			return err
		}
		return d.s.records.ScanTag(ctx, d.s.app.Tagged(d.caller, partition.WorkflowTag(id), prefix), withoutSubjects(subjects, each))
	})
}

// eachContent returns a function that reads the contents of records. The function calls "visit"
// with each record.
func (d *UserData) eachContent(ctx context.Context, visit func(storage.Record) error) func([]storage.Head) error {
	return d.s.records.WithContents(ctx, func(chunk []storage.Record) error {
		for _, r := range chunk {
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// withoutSubjects returns a function. If a record does not belong to one of the given data
// subjects, the function calls "visit" with the record. A record in a workflow of the user can
// belong to another data subject. For example, an anonymous session may have written the record.
func withoutSubjects(subjects []string, visit func([]storage.Head) error) func([]storage.Head) error {
	return func(heads []storage.Head) error {
		others := slices.DeleteFunc(slices.Clone(heads), func(h storage.Head) bool {
			return slices.ContainsFunc(h.Tags, func(tag string) bool { return slices.Contains(subjects, tag) })
		})
		return visit(others)
	}
}

// record visits a record if the record is live. The store of the record can be undeclared.
func (d *UserData) record(ctx context.Context, r storage.Record, visit func(UserRecord) error) error {
	name := r.Key.Part(storage.Store)
	st := d.s.stores[name]
	if st == nil && r.Key.Part(storage.Namespace) != "" {
		st = autoCollection(d.s, name)
	}
	if st == nil {
		st = &store{Store: declare.Store{Name: name}}
	}
	visible, err := d.life.visible(ctx, st, r)
	if err != nil || !visible {
		return err
	}
	head := storage.Head{Record: r, ContentBytes: int64(len(r.Content))}
	return visit(UserRecord{st.info(head), st.export(r)})
}

// eachSession visits the sessions that still belong to the user.
func (d *UserData) eachSession(ctx context.Context, visit func(storage.Record, session.State) error) error {
	for _, id := range d.sessions {
		c := d.caller
		c.Session = id
		found, err := d.s.backend.Get(ctx, d.s.app.Session(c))
		if err != nil {
			return err
		}
		state, err := session.Decode(found[0])
		if err != nil {
			return err
		}
		if state.User != c.User { // the session was removed, or now belongs to another user
			continue
		}
		if err := visit(found[0], state); err != nil {
			return err
		}
	}
	return nil
}

// eachWorkflow visits the workflows that still belong to the user.
func (d *UserData) eachWorkflow(ctx context.Context, visit func(storage.Record) error) error {
	for _, id := range d.workflows {
		c := d.caller
		c.Workflow = id
		r, err := d.s.records.Get(ctx, d.s.app.Workflow(c))
		if err != nil {
			return err
		}
		state, err := session.Decode(r)
		if err != nil {
			return err
		}
		if state.User != c.User { // the workflow was removed, or now belongs to another user
			continue
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

// export returns the content of a record in the form for exports. If the store is no longer
// declared, the kind of the record is unknown. export then returns the stored content. If the
// stored content is not JSON, export encodes it in Base64.
func (st *store) export(r storage.Record) json.RawMessage {
	if st.compiled != nil {
		return st.compiled.Show(r.Content)
	}
	if json.Valid(r.Content) {
		return r.Content
	}
	text, _ := json.Marshal(r.Content) // marshaling bytes never fails
	return text
}
