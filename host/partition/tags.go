package partition

import (
	"cmp"
	"strings"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	sessionTagPrefix  = "session/"
	workflowTagPrefix = "workflow/"
)

// SessionTag returns the tag of records that are removed when a session ends.
func SessionTag(session string) string { return sessionTagPrefix + session }

// SessionOfTag returns the session id in a tag from SessionTag. SessionOfTag returns false for any
// other tag.
func SessionOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, sessionTagPrefix) }

// WorkflowTag returns the tag of records that are removed when a workflow ends.
func WorkflowTag(workflow string) string { return workflowTagPrefix + workflow }

// WorkflowOfTag returns the workflow id in a tag from WorkflowTag. WorkflowOfTag returns false for
// any other tag.
func WorkflowOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, workflowTagPrefix) }

// A Lifetime contains the session and the workflow whose end also ends a record. The zero value
// contains neither a session nor a workflow.
type Lifetime struct {
	Session, Workflow string
	// Author is the data subject of the record if Tags cannot derive a data subject from the
	// record's key. Author can be "". If the data subject is erased, the record is removed.
	Author string
}

// Tags returns the tags of a record. The tags contain the data subject of the record, and the
// session and the workflow whose end also ends the record. All tags of records are created by Tags.
// Therefore an erasure finds all data of a user. If the key contains a user, this user is the data
// subject. If the key contains no user, the data subject is the Subject of the argument "writer".
func Tags(key storage.Key, writer Caller, ends Lifetime) (all []string) {
	if who := cmp.Or(subjectOfKey(key, writer), ends.Author); who != "" {
		all = append(all, storage.SubjectTag(who))
	}
	if ends.Session != "" {
		all = append(all, SessionTag(ends.Session))
	}
	if ends.Workflow != "" {
		all = append(all, WorkflowTag(ends.Workflow))
	}
	return all
}

// subjectOfKey returns the data subject of a record. The argument "key" is the key of the record.
// Without a data subject, the result is ""; see Caller.Subject.
func subjectOfKey(key storage.Key, writer Caller) string {
	if user := key.Part(storage.User); user != "" {
		return user
	}
	if session := key.Part(storage.Session); session != "" {
		return Caller{User: writer.User, Session: session}.Subject()
	}
	if key.Part(storage.Workflow) != "" {
		return writer.Subject()
	}
	switch key.Part(storage.System) {
	case File, FileText, Upload, Ledger, SleepDue, Approval, PausedRun:
		return writer.Subject()
	}
	return ""
}

// Tagged selects records of the app. The keys of the records begin with a prefix, and the records
// have a tag. The prefix "" matches all records of the app.
func (a App) Tagged(c Caller, tag string, prefix storage.Key) storage.Selector {
	return storage.Selector{Group: a.Group(c), Tag: tag, Prefix: prefix}
}

// OfUser selects records of the caller's user. The keys of the records begin with a prefix. The
// prefix "" matches all records of the user.
func (a App) OfUser(c Caller, prefix storage.Key) storage.Selector {
	return a.Tagged(c, storage.SubjectTag(c.User), prefix)
}
