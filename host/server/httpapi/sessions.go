package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/session"
)

type sessionOutput struct{ Body session.Session }

type sessionInput struct {
	apitypes.Target
	apitypes.SessionPath
	apitypes.UserQuery
}

func addSessions(s *Server) {
	tags := []string{"sessions"}
	add(s, auth.Sessions, huma.Operation{
		OperationID: "start-session", Method: http.MethodPost, Path: "/sessions", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Start a session", Description: "Starts a session, or changes the metadata and references of an open session. The id of an ended session is rejected. " +
			"If the request contains a message, the app's default tool runs in the session, and the response contains the result of the tool. The session stays open if the tool fails.",
	}, startSession)
	add(s, auth.ReadSessions, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: "/sessions", Tags: tags,
		Summary: "List sessions", Description: "Returns sessions, sorted by id. Metadata is included only for credentials that can change metadata. A page may be shorter than the limit. More pages follow if `next` is set.",
	}, listSessions)
	add(s, auth.ReadSessions, huma.Operation{
		OperationID: "get-session", Method: http.MethodGet, Path: "/sessions/{session_id}", Tags: tags, Summary: "Describe a session",
	}, func(ctx context.Context, c *call, in *sessionInput) (*sessionOutput, error) {
		caller, err := c.caller(ctx, in.User, in.Session)
		if err != nil {
			return nil, err
		}
		found, err := c.host.Sessions().Get(ctx, caller)
		return &sessionOutput{c.shown(found)}, err
	})
	add(s, auth.Sessions, huma.Operation{
		OperationID: "change-metadata", Method: http.MethodPatch, Path: "/sessions/{session_id}/metadata", Tags: tags,
		Summary: "Change a session's metadata", Description: "The body is a merge patch (RFC 7396): null removes a member, and members that the patch omits do not change.",
	}, changeMetadata)
	add(s, auth.Sessions, huma.Operation{
		OperationID: "end-session", Method: http.MethodDelete, Path: "/sessions/{session_id}", Tags: tags, Summary: "End a session",
		Description: "Removes the records that expire with the session. Later requests with the id of the session are rejected. Ending a session twice is not an error.",
	}, func(ctx context.Context, c *call, in *sessionInput) (*sessionOutput, error) {
		caller, err := c.caller(ctx, in.User, in.Session)
		if err != nil {
			return nil, err
		}
		ended, err := c.host.Sessions().End(ctx, caller)
		return &sessionOutput{ended}, err
	})
}

type startInput struct {
	apitypes.Target
	apitypes.RunHeaders
	Body apitypes.SessionRequest
}

type startedSession struct {
	session.Session
	Result *report.Result `json:"result,omitempty" doc:"Result of the run of the message"`
}

type startOutput struct{ Body startedSession }

func startSession(ctx context.Context, c *call, in *startInput) (*startOutput, error) {
	if err := c.checkMessage(in); err != nil { // before the session starts
		return nil, err
	}
	caller, err := c.caller(ctx, in.Body.User, in.Body.Session)
	if err != nil {
		return nil, err
	}
	if err := checkPlainText(in.Body.Metadata, in.Body.SessionReference, in.Body.UserReference); err != nil {
		return nil, err
	}
	provided := apitypes.RunFields{Metadata: in.Body.Metadata, SessionReference: in.Body.SessionReference, UserReference: in.Body.UserReference}
	if err := c.checkRunFields(provided); err != nil {
		return nil, err
	}
	started, err := c.host.Sessions().Start(ctx, caller, session.Start{
		Reference: in.Body.SessionReference, UserReference: in.Body.UserReference, Metadata: in.Body.Metadata,
	})
	out := &startOutput{startedSession{Session: started}}
	if err != nil || in.Body.Message == nil {
		return out, err
	}
	fields := apitypes.RunFields{Message: in.Body.Message, Session: started.ID, User: started.User}
	answer, err := c.run(ctx, job{fields: fields, key: in.Key})
	if err != nil {
		return nil, err
	}
	out.Body.Result = &answer.Body
	return out, nil
}

// checkMessage rejects the first message of a session if no default tool exists, or if the
// principal may not run the default tool.
func (c *call) checkMessage(in *startInput) error {
	if in.Body.Message == nil {
		return nil
	}
	if !c.principal.Allows(auth.Run) {
		return abi.Faultf(abi.AccessDenied, "the role %q cannot run the default tool: it lacks the permission %q", c.principal.Role, auth.Run)
	}
	_, err := c.host.DefaultTool()
	return err
}

type listSessionsInput struct {
	apitypes.Target
	apitypes.UserQuery
	apitypes.PageQuery
}

func listSessions(ctx context.Context, c *call, in *listSessionsInput) (*listOutput[session.Session], error) {
	caller, err := c.named(in.User, "")
	if err != nil {
		return nil, err
	}
	if caller.Session != "" { // the only session that the caller may see
		own, err := c.host.Sessions().Get(ctx, caller)
		return &listOutput[session.Session]{apitypes.List[session.Session]{Items: []session.Session{c.shown(own)}}}, err
	}
	found, next, err := c.host.Sessions().List(ctx, caller, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	page := apitypes.List[session.Session]{Items: []session.Session{}, Next: next}
	for _, one := range found {
		page.Items = append(page.Items, c.shown(one))
	}
	return &listOutput[session.Session]{page}, nil
}

// The method shown returns a session, and omits the fields that the principal may not see.
func (c *call) shown(s session.Session) session.Session {
	if !c.principal.Allows(auth.Sessions) {
		s.Metadata = json.RawMessage("{}")
	}
	return s
}

type metadataInput struct {
	apitypes.Target
	apitypes.SessionPath
	apitypes.UserQuery
	Body json.RawMessage `contentType:"application/merge-patch+json" doc:"A merge patch (RFC 7396)"`
}

func changeMetadata(ctx context.Context, c *call, in *metadataInput) (*sessionOutput, error) {
	caller, err := c.caller(ctx, in.User, in.Session)
	if err != nil {
		return nil, err
	}
	if err := checkPlainText(in.Body); err != nil {
		return nil, err
	}
	if err := c.checkMetadata(in.Body); err != nil {
		return nil, err
	}
	if _, err := c.host.Sessions().Get(ctx, caller); err != nil { // a patch never starts a session
		return nil, err
	}
	changed, err := c.host.Sessions().Start(ctx, caller, session.Start{Metadata: in.Body})
	return &sessionOutput{changed}, err
}

// sorted sorts a list in place by a key and returns the list.
func sorted[T any](list []T, by func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
	return list
}
