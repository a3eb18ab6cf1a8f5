package partition

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// Caller is the verified identity that a run acts for. A guest cannot choose another identity.
type Caller struct {
	// Tenant is the platform's customer. Tenant is required.
	Tenant string
	// User and Session are "" if they are unknown.
	User    string
	Session string
	// Workflow is the id of the workflow, the tree of runs and sessions to which the run belongs.
	// Workflow is "" if the run belongs to no workflow.
	Workflow string
	// Agent is the id of the agent that is active for the caller. Agent is "" if no agent is
	// active.
	Agent string
	// Run is the id of the run.
	Run string
	// Confined limits the caller to sessions that already belong to the user. A confined caller cannot
	// start a session or bind an anonymous session. Set Confined if the session id comes from an
	// end user and is not verified by the platform. Confined has no effect on Workflow. The
	// platform must always verify the id of the workflow.
	Confined bool
}

// maxID is the largest size in bytes of a caller's ids and of an idempotency key. The ids of a
// caller become parts of keys.
const maxID = 256

// MaxSessionID is the largest size of the id of a session or a workflow in bytes.
const MaxSessionID = 128

// Check returns a fault with abi.InvalidArgument if an id cannot be a part of a key.
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

// Subject returns the data subject of the caller's writes: the user, the session or the workflow.
// The user takes precedence over the session, and the session over the workflow. The writes count
// against the quota of the data subject. Subject returns "" for a caller without a user, a session
// or a workflow.
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

// AnonymousSubject returns the data subject of records written in a session without a user.
func AnonymousSubject(session string) string { return "\x00" + session } // no user id contains a control character

// AnonymousWorkflow returns the data subject of records that a caller with neither a user nor a
// session wrote in a workflow.
func AnonymousWorkflow(workflow string) string { return "\x00workflow/" + workflow } // no session id contains a slash

// CheckID returns a fault if an id cannot be a part of a key. The argument "what" is the name of
// the id in the message of the fault, such as "user".
func CheckID(what, id string) error {
	if len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return abi.Faultf(abi.InvalidArgument, "the %s id must be valid UTF-8 without control characters, at most %d bytes", what, maxID)
	}
	if (what == "user" || what == "tenant") && (id == "." || id == "..") {
		return abi.Faultf(abi.InvalidArgument, "the %s id must not be %q", what, id)
	}
	return nil
}

// CheckSessionID returns a fault if a proxy could change an id in a URL path by decoding it.
// CheckSessionID does not apply to users and tenants, whose ids come from the platform and not from
// clients. The empty id is valid.
func CheckSessionID(id string) error { return checkPathID("session", id) }

// checkPathID is like CheckSessionID. The argument "what" is the name of the id in the message of
// the fault.
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
