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

// SessionTag returns the tag of records that end with a session.
func SessionTag(session string) string { return sessionTagPrefix + session }

// SessionOfTag returns the session id in a tag that SessionTag returned. SessionOfTag returns false
// for any other tag.
func SessionOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, sessionTagPrefix) }

// WorkflowTag returns the tag of records that end with a workflow.
func WorkflowTag(workflow string) string { return workflowTagPrefix + workflow }

// WorkflowOfTag returns the workflow id in a tag that WorkflowTag returned. WorkflowOfTag returns
// false for any other tag.
func WorkflowOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, workflowTagPrefix) }

// Lifetime contains the session and the workflow with which a record ends. The zero value contains
// neither a session nor a workflow.
type Lifetime struct {
	Session, Workflow string
	// Author is the data subject of a record whose key contains no user, or "". An erasure of the
	// data subject removes the record.
	Author string
}

// Tags returns the tags of a record: its data subject, and the session and the workflow with which
// it ends. Tags creates all tags of records, so that an erasure finds all data of a user. The data
// subject is the user in the key. If the key contains no user, the data subject is the subject of
// the argument "writer".
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

// subjectOfKey returns the data subject of the record with a key, or "" if the record has no data
// subject; see Caller.Subject.
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

// Tagged selects the app's records with a tag under a prefix. The prefix "" selects all records.
func (a App) Tagged(c Caller, tag string, prefix storage.Key) storage.Selector {
	return storage.Selector{Group: a.Group(c), Tag: tag, Prefix: prefix}
}

// OfUser selects the records of the caller's user under a prefix. The prefix "" selects all
// records.
func (a App) OfUser(c Caller, prefix storage.Key) storage.Selector {
	return a.Tagged(c, storage.SubjectTag(c.User), prefix)
}
