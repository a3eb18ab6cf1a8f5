package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type messagesInput struct {
	apitypes.Target
	apitypes.SessionPath
	Body apitypes.MessagesRequest
}

type addedOutput struct{ Body apitypes.MessagesAdded }

type sleepInput struct{ apitypes.Target }

type sleepOutput struct{ Body host.SleepStatus }

func addSleep(s *Server) {
	tags := []string{"sleep"}
	add(s, auth.Sessions, huma.Operation{
		OperationID: "add-messages", Method: http.MethodPost, Path: "/sessions/{session_id}/messages", Tags: tags,
		Summary: "Add messages to the transcript of a session",
		Description: "For platforms with their own agents. When the conversation has settled, the app's sleep-time memory updates the blocks of the user. " +
			"The session is started if it does not exist. If the session has no user, nothing is kept, and `messages` is 0.",
	}, addMessages)
	add(s, auth.Stores, huma.Operation{
		OperationID: "sleep-status", Method: http.MethodGet, Path: "/sleep", Tags: tags, Summary: "Describe the sleep-time memory of the app",
		Description: "Counts at most 1,000 conversations; `more` is true if the app has more than 1,000 conversations.",
	}, sleepStatus(nil))
	add(s, auth.ChangeStores, huma.Operation{
		OperationID: "pause-sleep", Method: http.MethodPost, Path: "/sleep/pause", Tags: tags, Summary: "Pause sleep-time memory",
		Description: "No run of sleep-time memory begins during a pause. Runs in progress continue. Transcripts are removed at the end of their lifetime, even if no run has processed them.",
	}, sleepStatus(host.Sleep.Pause))
	add(s, auth.ChangeStores, huma.Operation{
		OperationID: "resume-sleep", Method: http.MethodPost, Path: "/sleep/resume", Tags: tags, Summary: "Resume sleep-time memory",
	}, sleepStatus(host.Sleep.Resume))
	add(s, auth.ChangeStores, huma.Operation{
		OperationID: "retry-sleep", Method: http.MethodPost, Path: "/sleep/retry", Tags: tags, Summary: "Repeat failed runs of sleep-time memory now",
		Description: "Schedules new runs for at most 1,000 conversations whose last run has failed. Without this request, a failed run is repeated after 1 minute to 4 hours.",
	}, sleepStatus(host.Sleep.Retry))
}

func addMessages(ctx context.Context, c *call, in *messagesInput) (*addedOutput, error) {
	caller, err := c.caller(ctx, in.Body.User, in.Session)
	if err != nil {
		return nil, err
	}
	caller.Agent = in.Body.Agent
	messages := make([]host.Message, len(in.Body.Messages))
	for i, m := range in.Body.Messages {
		messages[i] = host.Message(m)
	}
	added, err := c.host.Sessions().AddMessages(ctx, caller, messages)
	return &addedOutput{apitypes.MessagesAdded{Session: caller.Session, Messages: added}}, err
}

// sleepStatus returns a handler that responds with the state of sleep-time memory. If the argument
// "act" is not nil, the handler first calls this function.
func sleepStatus(act func(host.Sleep, context.Context, host.Caller) error) func(context.Context, *call, *sleepInput) (*sleepOutput, error) {
	return func(ctx context.Context, c *call, _ *sleepInput) (*sleepOutput, error) {
		caller, err := c.named("", "")
		if err != nil {
			return nil, err
		}
		if act != nil {
			if err := act(c.host.Sleep(), ctx, caller); err != nil {
				return nil, err
			}
		}
		status, err := c.host.Sleep().Status(ctx, caller)
		return &sleepOutput{status}, err
	}
}
