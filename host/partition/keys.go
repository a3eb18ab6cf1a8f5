package partition

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// The following constants are the kinds of host records. The System part of a record's key contains
// the kind. Guests cannot set the System part of a key.
const (
	Session   = "session"        // a session
	Workflow  = "workflow"       // a workflow
	Erased    = "erased"         // marks a user as erased
	Finished  = "finished"       // the Result of a run with an idempotency key
	Run       = "run"            // marks a run as committed if the run left no other record
	Catalogue = "catalogue"      // the declarations that applied when records were written
	Ledger    = storage.Ledger   // ledger entries with the reads and writes of runs
	Metering  = storage.Metering // the usage of all runs of a day
	Declared  = "declared"       // the declarations of stores that were declared at run time
	File      = "file"           // the content of an uploaded file
	FileText  = "file-text"      // the text of an uploaded file
	Upload    = "upload"         // marks a file that is being stored

	SleepDue    = "sleep-due"    // a scheduled run that processes a transcript
	SleepPaused = "sleep-paused" // marks the scheduled runs of a tenant as paused

	Approval  = "approval"   // a request for approval
	PausedRun = "paused-run" // a run that waits for an approval

	Embedding = "embedding" // the embedder that computed the vectors of a collection
	Reembed   = "reembed"   // the progress of a move of a collection to another embedder
)

// ErasedRetention is the time for which the mark of an erasure is kept. ErasedRetention is longer
// than any run that began before the erasure can take.
const ErasedRetention = 24 * time.Hour

// Shared replaces the id of the app in the keys of users' texts that all apps of a tenant share.
// Shared contains a control character, so no app can have this id.
const Shared App = "\x00shared"

// App is the id of an app. The methods of App return keys of records. The records belong to the app
// and to the caller's tenant.
type App string

// System returns the key of a host record. System can also return the common prefix of all host
// records of a kind.
func (a App) System(kind string, c Caller, parts ...storage.Part) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.System, Value: kind},
		storage.Part{Tag: storage.Tenant, Value: c.Tenant},
		storage.Part{Tag: storage.App, Value: string(a)},
	).With(parts...)
}

// Group returns the common prefix of all records in the stores of the app.
func (a App) Group(c Caller) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: c.Tenant}, storage.Part{Tag: storage.App, Value: string(a)})
}

// Session returns the key of the record of the caller's session.
func (a App) Session(c Caller) storage.Key {
	return a.System(Session, c, storage.Part{Tag: storage.Session, Value: c.Session})
}

// Workflow returns the key of the record of the caller's workflow.
func (a App) Workflow(c Caller) storage.Key {
	return a.System(Workflow, c, storage.Part{Tag: storage.Workflow, Value: c.Workflow})
}

// Erased returns the key of a mark. The mark records that the caller's user was erased. The key
// contains a digest of the user's id and not the id itself. The mark is kept for a day, and backups
// include it.
func (a App) Erased(c Caller) storage.Key {
	digest := sha256.Sum256([]byte(c.Tenant + "\x00" + string(a) + "\x00" + c.User))
	return a.System(Erased, c, storage.Part{Tag: storage.Item, Value: hex.EncodeToString(digest[:])})
}

// ErasedSession returns the key of a mark. The mark records that the user of the caller's session
// was erased. New ledger entries then omit the session.
func (a App) ErasedSession(c Caller) storage.Key {
	return a.System(Erased, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Session, Value: c.Session})
}

// ErasedWorkflow returns the key of a mark. The mark records that the user of the caller's workflow
// was erased. New ledger entries then omit the workflow.
func (a App) ErasedWorkflow(c Caller) storage.Key {
	return a.System(Erased, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Workflow, Value: c.Workflow})
}

// Finished returns the key of the Result that the caller stored under an idempotency key.
func (a App) Finished(c Caller, key string) storage.Key {
	return a.System(Finished, c, storage.Part{Tag: storage.User, Value: c.User},
		storage.Part{Tag: storage.Session, Value: c.Session}, storage.Part{Tag: storage.Workflow, Value: c.Workflow},
		storage.Part{Tag: storage.Item, Value: key})
}

// Embedding returns the key of a record. The record contains the embedder that computed the vectors
// of a collection.
func (a App) Embedding(c Caller, collection string) storage.Key {
	return a.System(Embedding, c, storage.Part{Tag: storage.Item, Value: collection})
}

// Reembed returns the key of a record. The record contains the progress of a move of a collection
// to another embedder.
func (a App) Reembed(c Caller, collection string) storage.Key {
	return a.System(Reembed, c, storage.Part{Tag: storage.Item, Value: collection})
}

// Run returns the key of a mark. The mark records that the caller's run was committed.
func (a App) Run(c Caller) storage.Key {
	return a.System(Run, c, storage.Part{Tag: storage.Item, Value: c.Run})
}
