package memory

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// erasedRetention is how long it stays known that a user was erased: longer than any run that began before.
const erasedRetention = 24 * time.Hour

// eraseRounds is how often an erasure looks again for what others wrote meanwhile.
const eraseRounds = 5

// Erased says what an erasure removed.
type Erased struct {
	User string `json:"user_id"`
	// Stores counts the records removed from each store, those of the user's sessions included.
	Stores map[string]int `json:"stores"`
	// Records and Bytes are the sums over all stores.
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	// Sessions and Runs count the sessions ended and the kept Results removed.
	Sessions int `json:"sessions"`
	Runs     int `json:"runs"`
	// Files counts the files that were uploaded for the user, and Entries those of the ledger that named the user.
	Files   int `json:"files"`
	Entries int `json:"ledger_entries"`
}

// Erase removes everything of a user in the caller's tenant: their records in all stores, declared or not, their
// sessions with what lived in them, and kept Results. A run for the user that is under way stores nothing.
// It returns when it has looked again and found nothing left. Records of the application that the user's runs
// wrote are the app's, and stay.
func (s *Service) Erase(ctx context.Context, c Caller) (Erased, error) {
	erased := Erased{User: c.User, Stores: map[string]int{}}
	if c.User == "" {
		return erased, abi.Faultf(abi.InvalidArgument, "an erasure needs a user")
	}
	if err := c.check(); err != nil {
		return erased, err
	}
	c.Session = ""
	if err := s.markErased(ctx, c); err != nil {
		return erased, s.hostFault("erase a user", err)
	}
	for range eraseRounds {
		found, err := s.eraseRound(ctx, c, &erased)
		if err != nil {
			return erased, s.hostFault("erase a user", err)
		}
		if !found {
			return erased, nil
		}
	}
	return erased, abi.Faultf(abi.Unavailable, "the user's runs keep writing while the user is erased").
		WithHint("stop runs for the user, then erase again")
}

// markErased makes every attempt that began before refuse to commit.
func (s *Service) markErased(ctx context.Context, c Caller) error {
	key := s.erasedKey(c)
	return s.backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		return s.writeSystem(nil, now[0], key, struct{}{}, s.now().Add(erasedRetention), c)
	})
}

// eraseRound removes what is there and reports whether there was anything. Sessions go first: that a session is the user's
// shows which records of the time when it was nobody's are the user's, too.
func (s *Service) eraseRound(ctx context.Context, c Caller, erased *Erased) (bool, error) {
	sessions, err := s.sessionsOf(ctx, c)
	if err != nil {
		return false, err
	}
	for _, session := range sessions {
		of := c
		of.Session = session
		if err := s.eraseSession(ctx, of, erased); err != nil {
			return false, err
		}
	}
	n, err := s.dropSubject(ctx, c, c.User, erased)
	return len(sessions)+n > 0, err
}

// dropSubject removes everything of a data subject but sessions, which leave a tombstone.
func (s *Service) dropSubject(ctx context.Context, c Caller, subject string, erased *Erased) (int, error) {
	total := 0
	for _, prefix := range []storage.Key{
		s.group(c), s.system(systemFinished, c), s.system(systemFile, c), s.system(systemFileText, c), s.system(systemUpload, c),
		s.system(systemLedger, c),
	} {
		n, err := s.drop(ctx, s.tagged(c, storage.SubjectTag(subject), prefix), erased.count)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// eraseSession ends a session of the user's and removes what was written in it while it was nobody's.
func (s *Service) eraseSession(ctx context.Context, c Caller, erased *Erased) error {
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil {
		return err
	}
	state, err := decodeSession(records[0])
	if err != nil || state.User != c.User {
		return err // the id is of no session any more, or of somebody else's
	}
	if _, err := s.dropSubject(ctx, c, subjectOf("", c.Session), erased); err != nil {
		return err
	}
	if state.Ended == nil {
		// What ends with the session is counted while it is there.
		if _, err := s.dropSubject(ctx, c, c.User, erased); err != nil {
			return err
		}
		if err := s.endSession(ctx, c, nil); err != nil && !errors.Is(err, abi.NotFound) {
			return err
		}
		erased.Sessions++
	}
	return s.forgetOwner(ctx, c)
}

// count adds a record that was removed.
func (e *Erased) count(h storage.Head) {
	switch h.Key.Part(storage.System) {
	case "":
		e.Stores[h.Key.Part(storage.Store)]++
		e.Records++
		e.Bytes += h.Size()
	case systemFinished:
		e.Runs++
	case systemLedger:
		e.Entries++
	case systemFile:
		e.Bytes += h.ContentBytes
		if isManifest(h.Key) {
			e.Files++
		}
	case systemFileText:
		e.Bytes += h.ContentBytes
	}
}

// removeUnder removes all records under a prefix and calls count with each.
func (s *Service) removeUnder(ctx context.Context, prefix storage.Key, count func(storage.Head)) (int, error) {
	return s.drop(ctx, storage.Selector{Prefix: prefix}, count)
}

// drop removes what is selected, in chunks, and calls count with each.
func (s *Service) drop(ctx context.Context, what storage.Selector, count func(storage.Head)) (int, error) {
	total := 0
	for {
		removed, err := s.backend.DeleteWhere(ctx, what, dropChunk)
		for _, h := range removed {
			count(h)
		}
		if total += len(removed); err != nil || len(removed) < dropChunk {
			return total, err
		}
	}
}

// removeKeys removes the records under keys, as they then are, in the order of keys.
func (s *Service) removeKeys(ctx context.Context, keys []storage.Key, count func(storage.Head)) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	removed, err := s.backend.DeleteWhere(ctx, storage.Selector{Keys: keys}, len(keys))
	for _, h := range removed {
		count(h)
	}
	return len(removed), err
}
