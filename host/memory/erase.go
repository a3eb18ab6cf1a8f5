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
	e := erasure{caller: c, sessions: map[string]bool{}, erased: &erased}
	for range eraseRounds {
		if err := s.sessionsOf(ctx, c, e.sessions); err != nil {
			return erased, s.hostFault("erase a user", err)
		}
		found, err := s.eraseRound(ctx, &e)
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

// erasure is one erasure under way.
type erasure struct {
	caller   Caller
	sessions map[string]bool // the ids of the user's sessions
	// ledger is the last entry of the ledger that was looked at. Entries of runs that began before the user was marked are
	// behind none that come later, so that each is looked at once.
	ledger storage.Key
	erased *Erased
}

// markErased makes every attempt that began before refuse to commit.
func (s *Service) markErased(ctx context.Context, c Caller) error {
	key := s.erasedKey(c)
	return s.backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		return s.writeSystem(nil, now[0], key, struct{}{}, s.now().Add(erasedRetention), c)
	})
}

// eraseRound removes what is there and reports whether there was anything.
func (s *Service) eraseRound(ctx context.Context, e *erasure) (bool, error) {
	c, erased := e.caller, e.erased
	user := storage.Part{Tag: storage.User, Value: c.User}
	// Sessions last: what ends with a session is counted while it is there.
	records, err := s.eraseUnder(ctx, s.group(c).With(user), erased)
	if err != nil {
		return false, err
	}
	runs, err := s.removeUnder(ctx, s.system(systemFinished, c, user), func(storage.Head) { erased.Runs++ })
	if err != nil {
		return false, err
	}
	sessions, err := s.eraseSessions(ctx, c, erased)
	if err != nil {
		return false, err
	}
	files, err := s.eraseFiles(ctx, c, erased)
	if err != nil {
		return false, err
	}
	entries, err := s.eraseLedger(ctx, e)
	return records+sessions+runs+files+entries > 0, err
}

// eraseSessions ends the user's sessions and removes what lived in them.
func (s *Service) eraseSessions(ctx context.Context, c Caller, erased *Erased) (int, error) {
	index := s.system(systemUserSession, c, storage.Part{Tag: storage.User, Value: c.User})
	total := 0
	for {
		links, err := s.backend.Heads(ctx, index, "", dropChunk)
		if err != nil || len(links) == 0 {
			return total, err
		}
		keys := make([]storage.Key, len(links))
		for i, link := range links {
			keys[i] = link.Key
			c.Session = link.Key.Part(storage.Session)
			if err := s.eraseSession(ctx, c, erased); err != nil {
				return total, err
			}
		}
		total += len(links)
		if _, err := s.removeKeys(ctx, keys, func(storage.Head) {}); err != nil { // those that outlived their session
			return total, err
		}
	}
}

// eraseSession ends a session of the user's and removes what lived in it.
func (s *Service) eraseSession(ctx context.Context, c Caller, erased *Erased) error {
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil {
		return err
	}
	state, err := decodeSession(records[0])
	if err != nil || state.User != c.User {
		return err // the id is of no session any more, or of somebody else's
	}
	for _, file := range state.Files { // those of the time when the session was nobody's have no other trace
		if _, err := s.eraseFile(ctx, c, file.ID, erased); err != nil {
			return err
		}
	}
	if state.Ended != nil {
		return s.forgetOwner(ctx, c)
	}
	session := storage.Part{Tag: storage.Session, Value: c.Session}
	if _, err := s.eraseUnder(ctx, s.group(c).With(session), erased); err != nil {
		return err
	}
	if err := s.endSession(ctx, c, nil); err != nil && !errors.Is(err, abi.NotFound) {
		return err
	}
	if err := s.forgetOwner(ctx, c); err != nil {
		return err
	}
	erased.Sessions++
	return nil
}

// eraseUnder removes the records of stores under a prefix and counts them.
func (s *Service) eraseUnder(ctx context.Context, prefix storage.Key, erased *Erased) (int, error) {
	return s.removeUnder(ctx, prefix, func(h storage.Head) {
		erased.Stores[h.Key.Part(storage.Store)]++
		erased.Records++
		erased.Bytes += h.Size()
	})
}

// removeUnder removes all records under a prefix and calls count with each.
func (s *Service) removeUnder(ctx context.Context, prefix storage.Key, count func(storage.Head)) (int, error) {
	return s.drop(ctx, storage.Selector{Prefix: prefix}, count)
}

// drop removes what is selected, in chunks, and calls count with each.
func (s *Service) drop(ctx context.Context, what storage.Selector, count func(storage.Head)) (int, error) {
	total := 0
	for {
		removed, err := s.backend.Drop(ctx, what, dropChunk)
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
	removed, err := s.backend.Drop(ctx, storage.Selector{Keys: keys}, len(keys))
	for _, h := range removed {
		count(h)
	}
	return len(removed), err
}

// removeWhere removes the records under a prefix that match. They are looked for outside of transactions: others
// need not wait for that.
func (s *Service) removeWhere(ctx context.Context, prefix storage.Key, match func(storage.Head) bool) (int, error) {
	total := 0
	err := s.scanHeads(ctx, prefix, func(chunk []storage.Head) error {
		var keys []storage.Key
		for _, h := range chunk {
			if match(h) {
				keys = append(keys, h.Key)
			}
		}
		n, err := s.removeKeys(ctx, keys, func(storage.Head) {})
		total += n
		return err
	})
	return total, err
}
