package partition

import (
	"strings"

	"github.com/toolrun/toolrun/host/storage"
)

const sessionTagPrefix = "session/"

// SessionTag returns the tag of records whose lifetime ends with a session.
func SessionTag(session string) string { return sessionTagPrefix + session }

// SessionOfTag returns the id of the session with whose end a record of that tag ends.
func SessionOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, sessionTagPrefix) }

// Tags returns the tags of a record: its data subject, and the session with which it ends, "" for none. Every record gets
// its tags here, so that an erasure finds all that belongs to a user. The subject is the user whom the key names, or else,
// for what belongs to a session or to a writer, the one whom writer names.
func Tags(key storage.Key, writer Caller, endsWith string) (all []string) {
	if who := subjectOfKey(key, writer); who != "" {
		all = append(all, storage.SubjectTag(who))
	}
	if endsWith != "" {
		all = append(all, SessionTag(endsWith))
	}
	return all
}

// subjectOfKey returns the data subject of the record under a key, "" if it has none; see Caller.Subject.
func subjectOfKey(key storage.Key, writer Caller) string {
	if user := key.Part(storage.User); user != "" {
		return user
	}
	if session := key.Part(storage.Session); session != "" {
		return subject(writer.User, session)
	}
	switch key.Part(storage.System) {
	case File, FileText, Upload, Ledger:
		return writer.Subject()
	}
	return ""
}

// Tagged selects the app's records with a tag, of those under a prefix, "" for all.
func (a App) Tagged(c Caller, tag string, prefix storage.Key) storage.Selector {
	return storage.Selector{Group: a.Group(c), Tag: tag, Prefix: prefix}
}

// OfUser selects the records of the caller's user under a prefix, "" for all.
func (a App) OfUser(c Caller, prefix storage.Key) storage.Selector {
	return a.Tagged(c, storage.SubjectTag(c.User), prefix)
}

// OfAnonymous selects what runs in a session wrote under a prefix while the session had no user.
func (a App) OfAnonymous(c Caller, session string, prefix storage.Key) storage.Selector {
	return a.Tagged(c, storage.SubjectTag(AnonymousSubject(session)), prefix)
}
