package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// named returns the Caller for the user and the session in a request. The user and the session are
// optional. named fails if the credentials do not allow the user or the session. The workflow of
// the Caller is the workflow in the credentials.
func (c *call) named(user, session string) (host.Caller, error) {
	user, session, err := c.principal.ActAs(user, session)
	return host.Caller{
		Tenant: c.principal.Tenant, User: user, Session: session, Workflow: c.principal.Workflow,
		Actor: c.principal.Name, ActorIsUser: c.principal.Role == auth.User, Confined: c.principal.Confined(session),
	}, err
}

// caller returns the Caller of a request that contains a user and a session. If a request with an
// API key contains only a session, the user is the owner of that session.
func (c *call) caller(ctx context.Context, user, session string) (host.Caller, error) {
	caller, err := c.named(user, session)
	if err != nil || caller.User != "" || caller.Session == "" {
		return caller, err
	}
	found, err := c.host.Sessions().Get(ctx, caller)
	if errors.Is(err, abi.NotFound) { // the operation reports the missing session, or starts the session
		return caller, nil
	}
	if err == nil && found.Ended == nil {
		caller.User = found.User
	}
	return caller, err
}

// callerIn is like caller, but for a request that can contain a workflow. If a request with an API
// key contains only a workflow, the user is the owner of that workflow.
func (c *call) callerIn(ctx context.Context, user, session, workflow string) (host.Caller, error) {
	workflow, err := c.principal.ActIn(workflow)
	if err != nil {
		return host.Caller{}, err
	}
	caller, err := c.caller(ctx, user, session)
	if caller.Workflow = workflow; err != nil || caller.User != "" || workflow == "" {
		return caller, err
	}
	found, err := c.host.Workflows().Get(ctx, caller)
	if errors.Is(err, abi.NotFound) { // the operation reports the missing workflow, or starts the workflow
		return caller, nil
	}
	if err == nil && found.Ended == nil {
		caller.User = found.User
	}
	return caller, err
}

// checkRunFields rejects fields that only the credentials of the platform may set. The rejected
// fields are the environment, the context, the references of the platform, and user metadata.
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
			return platformOnly(member.name)
		}
	}
	return c.checkMetadata(f.Metadata)
}

// checkTest returns the mocks of a request. A dry run reveals stored content, and mocks determine
// the records that a tool stores. Therefore, a dry run and mocks require the permissions to read
// and to change records.
func (c *call) checkTest(dryRun bool, f apitypes.TestFields) (model.Mocks, memory.RecallMocks, error) {
	mocked := isSet(f.Mocks)
	switch {
	case (dryRun || f.Test) && !c.principal.Allows(auth.Records):
		return nil, nil, abi.Faultf(abi.AccessDenied, "a dry run reveals stored content and requires the permission %q", auth.Records)
	case mocked && !c.principal.Allows(auth.ChangeRecords):
		return nil, nil, abi.Faultf(abi.AccessDenied, "mocks determine what a run stores and require the permission %q", auth.ChangeRecords)
	case f.Live && f.Test:
		return nil, nil, abi.Faultf(abi.InvalidArgument, "a test run does not call models, so it cannot be live").WithHint("omit `live`, or set `dry_run` instead of `test`")
	case f.Live && !dryRun:
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the member \"live\" is allowed only in dry runs").WithHint("set `dry_run`, or omit `live`")
	case !mocked:
		return nil, nil, nil
	}
	return host.ReadMocks(f.Mocks)
}

// milliseconds converts a number of milliseconds in a request to a duration.
func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// platformOnly returns the error for a member that only the credentials of the platform may set.
func platformOnly(member string) error {
	return abi.Faultf(abi.AccessDenied, "user credentials cannot set %s", member).
		WithHint("omit %s, or use an API key of the platform", member)
}

// checkMetadata rejects a metadata patch from an end user if the patch contains a key that the
// configuration does not allow.
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
		f := abi.Faultf(abi.AccessDenied, "user credentials cannot set metadata.%s", truncatedName(name))
		if len(c.userMetadata) == 0 {
			return f.WithHint("omit metadata.%s, or use an API key of the platform", truncatedName(name))
		}
		return f.WithHint("omit metadata.%s: credentials of a user can set only the keys %s", truncatedName(name), strings.Join(c.userMetadata, ", "))
	}
	return nil
}

// isSet reports whether a body member is present and not null.
func isSet(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// truncatedName shortens a name from a request for use in a message.
func truncatedName(name string) string {
	const maxRunes = 64
	runes := []rune(name)
	if len(runes) <= maxRunes {
		return name
	}
	return string(runes[:maxRunes]) + "..."
}
