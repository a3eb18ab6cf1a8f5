package auth

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// Principal is who asks, as far as credentials show it. The zero value may do nothing. It holds no secret.
type Principal struct {
	Role Role
	// Tenant is the platform's customer, and the only one that the principal can reach; never empty.
	Tenant string
	// Apps are the ids of the apps that it may use; none means all of the tenant's.
	Apps []string
	// User and Session, where set, are the only ones that it may act as.
	User    string
	Session string
	// CanRunCode allows a role that needs leave for it to run code that comes with the request.
	CanRunCode bool
	// Name is the key's, or the subject of the token: for logs.
	Name string
}

// MayUse reports whether the principal may use an app of its tenant.
func (p Principal) CanUseApp(app string) bool {
	if !slices.Contains(Roles(), p.Role) {
		return false
	}
	return len(p.Apps) == 0 || slices.Contains(p.Apps, app)
}

// Allows reports whether the principal has a right.
func (p Principal) Allows(permission Permission) bool {
	return allowed(p.Role, p.CanRunCode, permission)
}

// Act returns for whom a request acts that names this user and session, either of which may be "". It fills in those
// that the principal is bound to, and refuses others as abi.AccessDenied. That a session belongs to the user is not
// looked at here: the host does.
func (p Principal) ActAs(user, session string) (string, string, error) {
	if p.Role == User && p.User == "" {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials name no user")
	}
	user, ok := bound(p.User, user)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials act for another user").WithHint("leave the user out")
	}
	session, ok = bound(p.Session, session)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials act in another session").WithHint("leave the session out")
	}
	return user, session, nil
}

// Confined reports whether a request in this session may use it only if it is the user's already. So it is with the
// credentials of a user, unless they name the session themselves: what else an end user names, nobody verified.
func (p Principal) Confined(session string) bool {
	switch p.Role {
	case Operator, Runtime, ReadOnly:
		return false
	}
	return p.Session == "" || session != p.Session
}

// bound returns the one of two ids that counts, and false where they contradict each other.
func bound(own, asked string) (string, bool) {
	if own == "" {
		return asked, true
	}
	return own, asked == "" || asked == own
}

// maxID bounds ids and names in bytes, as memory does for those that become parts of keys.
const maxID = 256

func checkID(what, id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s must be 1 to %d bytes of UTF-8 without control characters", what, maxID)
	}
	return nil
}
