package partition

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// The constants below are the kinds of the host's own records. A kind is the value of the System
// part of the record's key, which guests cannot set.
const (
	Session   = "session"        // a session
	Workflow  = "workflow"       // a workflow
	Erased    = "erased"         // the mark that a user was erased
	Finished  = "finished"       // the Result of a run with an idempotency key
	Run       = "run"            // the mark of a commit of a run that left no other record
	Catalogue = "catalogue"      // the declarations under which records were written
	Ledger    = storage.Ledger   // the reads and writes of runs
	Metering  = storage.Metering // the usage of runs on a day
	Declared  = "declared"       // stores declared at run time
	File      = "file"           // the content of an uploaded file
	FileText  = "file-text"      // the text of an uploaded file
	Upload    = "upload"         // the mark that a file is being stored

	SleepDue    = "sleep-due"    // a scheduled run of sleep-time memory
	SleepPaused = "sleep-paused" // the mark that the scheduled runs of a session are paused

	Approval  = "approval"   // a request for approval
	PausedRun = "paused-run" // a run that waits for an approval

	Embedding = "embedding" // the embedder that made the vectors of a collection
	Reembed   = "reembed"   // the progress of a collection that is moved to another embedder
)

// ErasedRetention is the time for which the mark of an erasure is kept. ErasedRetention is longer
// than the longest run that can have begun before the erasure.
const ErasedRetention = 24 * time.Hour

// Shared takes the place of an app's id in the keys of texts of users that all apps of a tenant
// share. No app has this id, because the id contains a control character.
const Shared App = "\x00shared"

// App is the id of an app. The methods of App return keys of the app's records in the caller's
// tenant.
type App string

// System returns the key of one of the host's own records, or the prefix of all records of a kind.
func (a App) System(kind string, c Caller, parts ...storage.Part) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.System, Value: kind},
		storage.Part{Tag: storage.Tenant, Value: c.Tenant},
		storage.Part{Tag: storage.App, Value: string(a)},
	).With(parts...)
}

// Group returns the prefix of all records of the app's stores.
func (a App) Group(c Caller) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: c.Tenant}, storage.Part{Tag: storage.App, Value: string(a)})
}

// Session returns the key of the caller's session.
func (a App) Session(c Caller) storage.Key {
	return a.System(Session, c, storage.Part{Tag: storage.Session, Value: c.Session})
}

// Workflow returns the key of the caller's workflow.
func (a App) Workflow(c Caller) storage.Key {
	return a.System(Workflow, c, storage.Part{Tag: storage.Workflow, Value: c.Workflow})
}

// Erased returns the key of the mark that records the erasure of the caller's user. The key
// contains a digest of the user's id, because the mark is kept for a day and is included in
// backups.
func (a App) Erased(c Caller) storage.Key {
	digest := sha256.Sum256([]byte(c.Tenant + "\x00" + string(a) + "\x00" + c.User))
	return a.System(Erased, c, storage.Part{Tag: storage.Item, Value: hex.EncodeToString(digest[:])})
}

// ErasedSession returns the key of the mark that records the erasure of the user of the caller's
// session. After the erasure, new ledger entries omit the session.
func (a App) ErasedSession(c Caller) storage.Key {
	return a.System(Erased, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Session, Value: c.Session})
}

// ErasedWorkflow returns the key of the mark that records the erasure of the user of the caller's
// workflow. After the erasure, new ledger entries omit the workflow.
func (a App) ErasedWorkflow(c Caller) storage.Key {
	return a.System(Erased, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Workflow, Value: c.Workflow})
}

// Finished returns the key of the caller's Result under an idempotency key.
func (a App) Finished(c Caller, key string) storage.Key {
	return a.System(Finished, c, storage.Part{Tag: storage.User, Value: c.User},
		storage.Part{Tag: storage.Session, Value: c.Session}, storage.Part{Tag: storage.Workflow, Value: c.Workflow},
		storage.Part{Tag: storage.Item, Value: key})
}

// Embedding returns the key of the record of the embedder that made the vectors of a collection.
func (a App) Embedding(c Caller, collection string) storage.Key {
	return a.System(Embedding, c, storage.Part{Tag: storage.Item, Value: collection})
}

// Reembed returns the key of the record of the progress of a collection that is moved to another
// embedder.
func (a App) Reembed(c Caller, collection string) storage.Key {
	return a.System(Reembed, c, storage.Part{Tag: storage.Item, Value: collection})
}

// Run returns the key of the mark that records the commit of the caller's run.
func (a App) Run(c Caller) storage.Key {
	return a.System(Run, c, storage.Part{Tag: storage.Item, Value: c.Run})
}
