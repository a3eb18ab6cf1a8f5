package partition

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// Caller is the identity that a run acts for, as the host verified it. A guest cannot name another one.
type Caller struct {
	// Tenant is the platform's customer; required.
	Tenant string
	// User and Session are empty if they are not known.
	User    string
	Session string
	// Run is the id of the run.
	Run string
	// Confined limits the caller to sessions that belong to the user already: it begins none, and binds none that is
	// anonymous. Set it for a session id that an end user sent and that the platform did not verify.
	Confined bool
}

// maxID bounds the ids of a caller and an idempotency key, in bytes. They become parts of keys.
const maxID = 256

// MaxSessionID bounds the id of a session, in bytes.
const MaxSessionID = 128

// Check refuses ids that cannot be parts of keys, with abi.InvalidArgument.
func (c Caller) Check() error {
	if c.Tenant == "" {
		return abi.Faultf(abi.InvalidArgument, "a caller needs a tenant")
	}
	for _, id := range []struct{ what, value string }{{"tenant", c.Tenant}, {"user", c.User}, {"session", c.Session}, {"run", c.Run}} {
		if err := CheckID(id.what, id.value); err != nil {
			return err
		}
	}
	return CheckSessionID(c.Session)
}

// Subject returns whose data the caller writes and whose quota that takes: the user, or an anonymous session, which has a
// quota of its own. It is "" for a caller without either.
func (c Caller) Subject() string { return subject(c.User, c.Session) }

// subject returns the data subject of a user, or of a session without one.
func subject(user, session string) string {
	if user == "" && session != "" {
		return AnonymousSubject(session)
	}
	return user
}

// AnonymousSubject returns the data subject of what was written in a session while it had no user.
func AnonymousSubject(session string) string { return "\x00" + session } // no user's id has a control character

// CheckID refuses an id that cannot be a part of a key. What names it in the fault, such as "user".
func CheckID(what, id string) error {
	if len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s's id must be at most %d bytes of UTF-8 without control characters", what, maxID)
	}
	if (what == "user" || what == "tenant") && (id == "." || id == "..") {
		return abi.Faultf(abi.InvalidArgument, "the %s's id cannot be %q, which is a step in a path", what, id)
	}
	return nil
}

// CheckSessionID refuses an id that a URL path cannot carry unchanged: a proxy that decodes it would send the request
// elsewhere. Session ids come from clients; those of users and tenants exist on the platform before. The empty id passes.
func CheckSessionID(id string) error {
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
