package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
)

// Caller is for whom a run acts: what the host verified, never what a guest said.
type Caller struct {
	// Tenant is the platform's customer; required.
	Tenant string
	// User and Session are empty where they are not known.
	User    string
	Session string
	// Run is the id of the run.
	Run string
	// Confined limits the caller to sessions that are the user's already: it begins none, and binds none that is
	// anonymous. It is for a session id that an end user sent and that the platform did not verify.
	Confined bool
}

// maxID bounds the ids of a caller and an idempotency key, in bytes. They become parts of keys.
const maxID = 256

// check refuses ids that cannot be parts of keys.
func (c Caller) check() error {
	if c.Tenant == "" {
		return abi.Faultf(abi.InvalidArgument, "a caller needs a tenant")
	}
	for _, id := range []struct{ what, value string }{{"tenant", c.Tenant}, {"user", c.User}, {"session", c.Session}, {"run", c.Run}} {
		if err := checkID(id.what, id.value); err != nil {
			return err
		}
	}
	return checkSessionID(c.Session)
}

func checkID(what, id string) error {
	if len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s's id must be at most %d bytes of UTF-8 without control characters", what, maxID)
	}
	if (what == "user" || what == "tenant") && (id == "." || id == "..") {
		return abi.Faultf(abi.InvalidArgument, "the %s's id cannot be %q, which is a step in a path", what, id)
	}
	return nil
}

// MaxSessionID bounds the id of a session, in bytes.
const MaxSessionID = 128

// checkSessionID refuses ids that a URL path cannot carry as they are: a proxy that decodes one would lead the request
// elsewhere. Session ids come from clients, unlike those of users and tenants, which the platform already has.
func checkSessionID(id string) error {
	const others = "._~:@=+-"
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r)
	}
	rest := strings.TrimLeftFunc(id, allowed)
	if id == "" || len(id) <= MaxSessionID && rest == "" && strings.Trim(id, ".") != "" {
		return nil
	}
	return abi.Faultf(abi.InvalidArgument, "the session's id is not one").
		WithHint("use 1 to %d letters of ASCII, digits and %s, and not only dots", MaxSessionID, others)
}

// The kinds of the host's own records: the value of their System part.
const (
	systemSession   = "session"        // a session
	systemErased    = "erased"         // that a user was erased
	systemFinished  = "finished"       // the Result of a run with an idempotency key
	systemRun       = "run"            // that a run committed, where nothing else shows it
	systemCatalogue = "catalogue"      // the declarations that the records were written under
	systemLedger    = storage.Ledger   // what runs read and wrote
	systemMetering  = storage.Metering // what runs used on a day
	systemDeclared  = "declared"       // stores that were declared while the app was open
	systemFile      = "file"           // what was uploaded to a session
	systemFileText  = "file-text"      // the text in there
	systemUpload    = "upload"         // that a file is being stored
)

func (s *Service) system(kind string, c Caller, parts ...storage.Part) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.System, Value: kind},
		storage.Part{Tag: storage.Tenant, Value: c.Tenant},
		storage.Part{Tag: storage.App, Value: s.app},
	).With(parts...)
}

func (s *Service) sessionKey(c Caller) storage.Key {
	return s.system(systemSession, c, storage.Part{Tag: storage.Session, Value: c.Session})
}

// erasedSessionKey is where the mark lies that a session's user was erased: entries of the ledger that are written
// later do not name the session.
func (s *Service) erasedSessionKey(c Caller) storage.Key {
	return s.system(systemErased, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Session, Value: c.Session})
}

// erasedKey is where the mark lies that a user was erased. It has a digest of the user's id and not the id: the mark
// stays for a day, and gets into backups.
func (s *Service) erasedKey(c Caller) storage.Key {
	digest := sha256.Sum256([]byte(c.Tenant + "\x00" + s.app + "\x00" + c.User))
	return s.system(systemErased, c, storage.Part{Tag: storage.Item, Value: hex.EncodeToString(digest[:])})
}

func (s *Service) finishedKey(c Caller, key string) storage.Key {
	return s.system(systemFinished, c, storage.Part{Tag: storage.User, Value: c.User},
		storage.Part{Tag: storage.Session, Value: c.Session}, storage.Part{Tag: storage.Item, Value: key})
}

func (s *Service) runKey(c Caller) storage.Key {
	return s.system(systemRun, c, storage.Part{Tag: storage.Item, Value: c.Run})
}

// group is the prefix of all records of the app in a tenant.
func (s *Service) group(c Caller) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: c.Tenant}, storage.Part{Tag: storage.App, Value: s.app})
}

// recordKey is where a store's record of that caller, whom who describes, lies. A store of a person or a session that is
// not known is a fault; there is no record that the unknown share.
func (s *Service) recordKey(st *store, c Caller, who string) (storage.Key, error) {
	key := s.group(c).With(storage.Part{Tag: storage.Store, Value: st.Name})
	switch st.Access {
	case declare.ScopeUser:
		if c.User == "" {
			return "", abi.Faultf(abi.NoUser, "the store %q is each user's own, and %s has no user", st.Name, who).
				WithHint("run it for a user")
		}
		key = key.With(storage.Part{Tag: storage.User, Value: c.User})
	case declare.ScopeSession:
		if c.Session == "" {
			return "", noSession(st, who)
		}
		key = key.With(storage.Part{Tag: storage.Session, Value: c.Session})
	}
	return key, nil
}

func noSession(st *store, who string) error {
	return abi.Faultf(abi.NoSession, "the store %q lives with a session, and %s has no session", st.Name, who).
		WithHint("run it in a session")
}
