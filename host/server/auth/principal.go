package auth

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// Principal is the authenticated sender of a request. Principal contains no secret. The zero value
// has no permissions.
type Principal struct {
	Role Role
	// Tenant is the only tenant that the principal can access. Tenant is never empty.
	Tenant string
	// Apps lists the ids of the apps that the principal may use. If Apps is empty, the principal
	// may use all apps of the tenant.
	Apps []string
	// If User is not "", the principal can act only for this user. If Session is not "", the
	// principal can act only in this session.
	User    string
	Session string
	// If Workflow is not "", all requests of the principal belong to this workflow. A principal
	// with the role User cannot select any other workflow.
	Workflow string
	// CanRunCode allows the principal to run code that is part of the request. CanRunCode has an
	// effect only for roles that need this explicit permission.
	CanRunCode bool
	// Name is the name of the key or the subject of the token. Name is used in logs.
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

// ActAs returns the effective user and session of a request. The arguments are the ids of the user
// and the session in the request, or "" for a missing id. If the principal is bound to a user or a
// session, ActAs adds the missing id and rejects any other id with abi.AccessDenied. ActAs does not
// verify that the session belongs to the user, because the host performs this check.
func (p Principal) ActAs(user, session string) (string, string, error) {
	if p.Role == User && p.User == "" {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials do not contain a user id")
	}
	user, ok := bound(p.User, user)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials belong to another user").WithHint("omit the user")
	}
	session, ok = bound(p.Session, session)
	if !ok {
		return "", "", abi.Faultf(abi.AccessDenied, "the credentials belong to another session").WithHint("omit the session")
	}
	return user, session, nil
}

// Confined returns true if a request may use only sessions that already belong to the user of the
// request. The restriction applies to end users whose credentials contain no session, because a
// session id that an end user supplies is not trusted.
func (p Principal) Confined(session string) bool {
	switch p.Role {
	case Operator, Runtime, ReadOnly:
		return false
	}
	return p.Session == "" || session != p.Session
}

// ActIn returns the effective workflow of a request. The argument is the id of the workflow in the
// request, or "". If an end user selects a workflow that the credentials do not contain, the error
// is abi.AccessDenied, because the id of a workflow that an end user supplies is not trusted.
func (p Principal) ActIn(workflow string) (string, error) {
	own, ok := bound(p.Workflow, workflow)
	switch {
	case !ok:
		return "", abi.Faultf(abi.AccessDenied, "the credentials belong to another workflow").WithHint("omit the workflow")
	case p.Role == User && own != p.Workflow:
		return "", abi.Faultf(abi.AccessDenied, "the credentials do not contain a workflow id").
			WithHint("omit the workflow, or use a token whose workflow claim contains this id")
	}
	return own, nil
}

// bound returns the effective id. If the principal is bound to an id and the request contains a
// different id, the result ok is false.
func bound(own, requested string) (string, bool) {
	if own == "" {
		return requested, true
	}
	return own, requested == "" || requested == own
}

// maxID is the maximum length of ids and names in bytes. Package memory has the same limit for ids
// in keys.
const maxID = 256

func checkID(what, id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s must be valid UTF-8 without control characters, 1 to %d bytes", what, maxID)
	}
	return nil
}
