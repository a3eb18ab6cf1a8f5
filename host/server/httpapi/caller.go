package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// named returns the Caller for the user and the session that a request names. Either may be "". It
// fails if the credentials do not allow them.
func (c *call) named(user, session string) (host.Caller, error) {
	user, session, err := c.principal.ActAs(user, session)
	return host.Caller{
		Tenant: c.principal.Tenant, User: user, Session: session, Actor: c.principal.Name, ActorIsUser: c.principal.Role == auth.User,
		Confined: c.principal.Confined(session),
	}, err
}

// caller returns the Caller of a request that names a user and a session. For a key that names only
// a session, it is the user of that session.
func (c *call) caller(ctx context.Context, user, session string) (host.Caller, error) {
	caller, err := c.named(user, session)
	if err != nil || caller.User != "" || caller.Session == "" {
		return caller, err
	}
	found, err := c.host.Sessions().Get(ctx, caller)
	if errors.Is(err, abi.NotFound) { // the operation reports it, or starts the session
		return caller, nil
	}
	if err == nil && found.Ended == nil {
		caller.User = found.User
	}
	return caller, err
}

// checkRunFields rejects fields that credentials of an end user may not set. Only the platform
// knows the environment, the context, its own references, and its metadata about the user.
func (c *call) checkRunFields(f apitypes.RunFields) error {
	if c.principal.Role != auth.User {
		return nil
	}
	for _, member := range []struct {
		name     string
		provided bool
	}{
		{"env", f.Env != nil}, {"context", isSet(f.Context)},
		{"session_reference", f.SessionReference != ""}, {"user_reference", f.UserReference != ""},
	} {
		if member.provided {
			return abi.Faultf(abi.AccessDenied, "the credentials of a user may not set %s", member.name).
				WithHint("omit %s, or use an API key of the platform", member.name)
		}
	}
	return c.checkMetadata(f.Metadata)
}

// checkMetadata rejects a metadata patch of an end user that has keys which the configuration does
// not allow.
func (c *call) checkMetadata(patch json.RawMessage) error {
	if c.principal.Role != auth.User || !isSet(patch) {
		return nil
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &members); err != nil {
		return abi.Faultf(abi.InvalidArgument, "the session's metadata must be an object")
	}
	for name := range members {
		if slices.Contains(c.userMetadata, name) {
			continue
		}
		f := abi.Faultf(abi.AccessDenied, "the credentials of a user may not set metadata.%s", truncatedName(name))
		if len(c.userMetadata) == 0 {
			return f.WithHint("omit metadata.%s, or use an API key of the platform", truncatedName(name))
		}
		return f.WithHint("omit metadata.%s: a user may set only %s", truncatedName(name), strings.Join(c.userMetadata, ", "))
	}
	return nil
}

// isSet reports whether a member of a body has a value other than null.
func isSet(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// truncatedName returns a name from a request, shortened for a message.
func truncatedName(name string) string {
	const maxRunes = 64
	runes := []rune(name)
	if len(runes) <= maxRunes {
		return name
	}
	return string(runes[:maxRunes]) + "..."
}
