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

// named is the user and the session that a request names, either of which may be "", as far as the credentials allow it.
func (c *call) named(user, session string) (host.Caller, error) {
	user, session, err := c.principal.ActAs(user, session)
	return host.Caller{
		Tenant: c.principal.Tenant, User: user, Session: session, Actor: c.principal.Name, ActorIsUser: c.principal.Role == auth.User,
		Confined: c.principal.Confined(session),
	}, err
}

// caller is for whom the request acts that names a user and a session. A key that names a session and no user acts for the
// session's own user.
func (c *call) caller(ctx context.Context, user, session string) (host.Caller, error) {
	caller, err := c.named(user, session)
	if err != nil || caller.User != "" || caller.Session == "" {
		return caller, err
	}
	found, err := c.host.Sessions().Get(ctx, caller)
	if errors.Is(err, abi.NotFound) { // which what is asked for will report, or begin it
		return caller, nil
	}
	if err == nil && found.Ended == nil {
		caller.User = found.User
	}
	return caller, err
}

// mayGive refuses what an end user's credentials may not set: only the platform knows the environment, what ran before, its
// own references, and what it says of the user in metadata.
func (c *call) checkRunFields(f apitypes.RunFields) error {
	if c.principal.Role != auth.User {
		return nil
	}
	for _, member := range []struct {
		name  string
		given bool
	}{
		{"env", f.Env != nil}, {"context", isSet(f.Context)},
		{"session_reference", f.SessionReference != ""}, {"user_reference", f.UserReference != ""},
	} {
		if member.given {
			return abi.Faultf(abi.AccessDenied, "the credentials of a user may not set %s", member.name).
				WithHint("leave %s out, or send the request with a key of the platform", member.name)
		}
	}
	return c.checkMetadata(f.Metadata)
}

// mayPatch refuses a patch of metadata with keys that the configuration does not leave to users.
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
			return f.WithHint("leave metadata.%s out, or send the request with a key of the platform", truncatedName(name))
		}
		return f.WithHint("leave metadata.%s out: a user may set %s", truncatedName(name), strings.Join(c.userMetadata, ", "))
	}
	return nil
}

// isGiven reports whether a member of a body holds a value.
func isSet(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// shortened is a name from a request as a message repeats it.
func truncatedName(name string) string {
	const maxRunes = 64
	runes := []rune(name)
	if len(runes) <= maxRunes {
		return name
	}
	return string(runes[:maxRunes]) + "..."
}
