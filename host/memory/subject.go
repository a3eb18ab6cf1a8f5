package memory

import (
	"context"
	"strings"

	"github.com/toolrun/toolrun/host/storage"
)

// sessionTag is the tag of records whose lifetime ends with a session.
func sessionTag(session string) string { return sessionTagPrefix + session }

const sessionTagPrefix = "session/"

// sessionOfTag returns the id of the session with whose end a record of that tag ends.
func sessionOfTag(tag string) (string, bool) { return strings.CutPrefix(tag, sessionTagPrefix) }

// tags returns the tags of a record: its data subject, and the session with which it ends, "" for none. Every record that
// this package writes gets its tags here, so that an erasure finds whatever belongs to a user. The subject is the user whom
// the key names, or else, for what belongs to a session or to a writer, the one whom writer names.
func tags(key storage.Key, writer Caller, endsWith string) (all []string) {
	if who := subjectOfKey(key, writer); who != "" {
		all = append(all, storage.SubjectTag(who))
	}
	if endsWith != "" {
		all = append(all, sessionTag(endsWith))
	}
	return all
}

// subjectOfKey returns whose data lies under a key, "" for nobody's: see Caller.subject.
func subjectOfKey(key storage.Key, writer Caller) string {
	if user := key.Part(storage.User); user != "" {
		return user
	}
	if session := key.Part(storage.Session); session != "" {
		return subjectOf(writer.User, session)
	}
	switch key.Part(storage.System) {
	case systemFile, systemFileText, systemUpload, systemLedger:
		return writer.subject()
	}
	return ""
}

// subject is whose data a caller writes, and whose share of the quota that takes: the user's, or that of an anonymous
// session, which has one of its own.
func (c Caller) subject() string { return subjectOf(c.User, c.Session) }

func subjectOf(user, session string) string {
	if user == "" && session != "" {
		return "\x00" + session // no user's id has a control character
	}
	return user
}

// tagged selects the records of the caller's app with a tag, of those under a prefix.
func (s *Service) tagged(c Caller, tag string, prefix storage.Key) storage.Selector {
	return storage.Selector{Group: s.group(c), Tag: tag, Prefix: prefix}
}

// ofUser selects the records of the caller's user under a prefix, "" for all.
func (s *Service) ofUser(c Caller, prefix storage.Key) storage.Selector {
	return s.tagged(c, storage.SubjectTag(c.User), prefix)
}

// ofAnonymous selects what a session's runs wrote under a prefix while the session was nobody's.
func (s *Service) ofAnonymous(c Caller, session string, prefix storage.Key) storage.Selector {
	return s.tagged(c, storage.SubjectTag(subjectOf("", session)), prefix)
}

// scanTag calls visit with the heads of all records that are selected by a tag, in chunks.
func (s *Service) scanTag(ctx context.Context, what storage.Selector, visit func([]storage.Head) error) error {
	return eachChunk(func(after storage.Key) ([]storage.Head, error) {
		return s.backend.ScanTag(ctx, what, after, dropChunk)
	}, visit)
}

// sessionsOf returns the ids of the user's sessions: those that are open, and those that ended as long as the ledger can
// name them.
func (s *Service) sessionsOf(ctx context.Context, c Caller) (ids []string, err error) {
	err = s.scanTag(ctx, s.ofUser(c, s.system(systemSession, c)), func(heads []storage.Head) error {
		for _, h := range heads {
			ids = append(ids, h.Key.Part(storage.Session))
		}
		return nil
	})
	return ids, err
}
