package partition

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// A Caller is the verified identity for which a run acts. A guest cannot choose the identity.
type Caller struct {
	// Tenant is a customer of the platform. Tenant is required.
	Tenant string
	// User is the id of the user, and Session is the id of the session. An unknown id is "".
	User    string
	Session string
	// Workflow is the id of the workflow to which the run belongs. A workflow is a tree of runs and
	// sessions. If the run belongs to no workflow, Workflow is "".
	Workflow string
	// Agent is the id of the active agent of the caller. Agent is "" if no agent is active.
	Agent string
	// Run is the id of the run.
	Run string
	// If Confined is true, the caller can use only sessions that already belong to the user. A
	// confined caller cannot start a session or bind an anonymous session. Set Confined if an end
	// user supplies the session id and the platform does not verify it. Confined has no effect on
	// Workflow. The platform must always verify the id of the workflow.
	Confined bool
}

// maxID is the maximum size of an id of a caller or of an idempotency key, in bytes. The ids of a
// caller become parts of keys.
const maxID = 256

// MaxSessionID is the maximum size in bytes of the id of a session or a workflow.
const MaxSessionID = 128

// Check returns the fault abi.InvalidArgument if an id of the caller cannot be a part of a key.
func (c Caller) Check() error {
	if c.Tenant == "" {
		return abi.Faultf(abi.InvalidArgument, "the caller has no tenant")
	}
	for _, id := range []struct{ what, value string }{{"tenant", c.Tenant}, {"user", c.User}, {"session", c.Session}, {"workflow", c.Workflow}, {"agent", c.Agent}, {"run", c.Run}} {
		if err := CheckID(id.what, id.value); err != nil {
			return err
		}
	}
	if err := CheckSessionID(c.Session); err != nil {
		return err
	}
	return checkPathID("workflow", c.Workflow)
}

// Subject returns the data subject of the caller's writes. The data subject is the user, the
// session or the workflow. If the caller has several of these, the user takes precedence over the
// session, and the session takes precedence over the workflow. The writes count toward the quota of
// this data subject. If the caller has no user, session or workflow, Subject returns "".
func (c Caller) Subject() string {
	switch {
	case c.User != "":
		return c.User
	case c.Session != "":
		return AnonymousSubject(c.Session)
	case c.Workflow != "":
		return AnonymousWorkflow(c.Workflow)
	}
	return ""
}

// AnonymousSubject returns the data subject of records that were written in a session without a
// user.
func AnonymousSubject(session string) string { return "\x00" + session } // no user id contains a control character

// AnonymousWorkflow returns the data subject of records that were written in a workflow. The writer
// had neither a user nor a session.
func AnonymousWorkflow(workflow string) string { return "\x00workflow/" + workflow } // no session id contains a slash

// CheckID returns a fault if an id cannot be a part of a key. The argument "what" is the name of
// the id in the text of the fault, such as "user".
func CheckID(what, id string) error {
	if len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s id must be valid UTF-8 without control characters, at most %d bytes", what, maxID)
	}
	if (what == "user" || what == "tenant") && (id == "." || id == "..") {
		return abi.Faultf(abi.InvalidArgument, "the %s id must not be %q", what, id)
	}
	return nil
}

// CheckSessionID returns a fault if an id in the path of a URL is not safe. A proxy can decode the
// path, and the decoding must not change the id. Do not use CheckSessionID for users and tenants.
// The ids of users and tenants come from the platform and not from clients. The empty id causes no
// fault.
func CheckSessionID(id string) error { return checkPathID("session", id) }

// checkPathID is like CheckSessionID. The argument "what" is the name of the id in the text of the
// fault.
func checkPathID(what, id string) error {
	const others = "._~:@=+-"
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r)
	}
	rest := strings.TrimLeftFunc(id, allowed)
	if id == "" || len(id) <= MaxSessionID && rest == "" && strings.Trim(id, ".") != "" {
		return nil
	}
	return abi.Faultf(abi.InvalidArgument, "invalid %s id", what).
		WithHint("use 1 to %d ASCII letters, digits and %s, but not only dots", MaxSessionID, others)
}
