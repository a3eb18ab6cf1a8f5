package auth

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// Principal is the authenticated sender of a request. The zero value has no permissions. It
// contains no secret.
type Principal struct {
	Role Role
	// Tenant is the only customer of the platform that the principal can reach. It is never empty.
	Tenant string
	// Apps lists the ids of the apps that it may use; empty for all apps of the tenant.
	Apps []string
	// User and Session, if set, are the only ones that it may act as.
	User    string
	Session string
	// CanRunCode allows it to run code that comes with the request, if its role requires explicit
	// permission.
	CanRunCode bool
	// Name is the name of the key, or the subject of the token, for logs.
	Name string
}

// CanUseApp reports whether the principal may use an app of its tenant.
func (p Principal) CanUseApp(app string) bool {
	if !slices.Contains(Roles(), p.Role) {
		return false
	}
	return len(p.Apps) == 0 || slices.Contains(p.Apps, app)
}

// Allows reports whether the principal has a permission.
func (p Principal) Allows(permission Permission) bool {
	return allowed(p.Role, p.CanRunCode, permission)
}

// ActAs returns the user and the session of a request that names these, either of which may be "".
// It adds those that the principal is bound to, and rejects others with abi.AccessDenied. It does
// not verify that the session belongs to the user; the host does.
func (p Principal) ActAs(user, session string) (string, string, error) {
	if p.Role == User && p.User == "" {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials name no user")
	}
	user, ok := bound(p.User, user)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials are for another user").WithHint("omit the user")
	}
	session, ok = bound(p.Session, session)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials are for another session").WithHint("omit the session")
	}
	return user, session, nil
}

// Confined reports whether a request may use this session only if it already belongs to the user.
// This holds for credentials of a user, unless they name the session themselves: other ids from an
// end user are unverified.
func (p Principal) Confined(session string) bool {
	switch p.Role {
	case Operator, Runtime, ReadOnly:
		return false
	}
	return p.Session == "" || session != p.Session
}

// bound returns the effective id, and false if the two ids contradict each other.
func bound(own, requested string) (string, bool) {
	if own == "" {
		return requested, true
	}
	return own, requested == "" || requested == own
}

// maxID bounds ids and names in bytes. Package memory has the same limit for ids in keys.
const maxID = 256

func checkID(what, id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s must be 1 to %d bytes of UTF-8 without control characters", what, maxID)
	}
	return nil
}
