package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Sleep is a handle for the sleep-time memory of the app. Sleep is safe for concurrent use.
type Sleep struct{ client *Client }

// Sleep returns the handle for the sleep-time memory of the app.
func (c *Client) Sleep() Sleep { return Sleep{c} }

// Status describes the sleep-time memory.
func (h Sleep) Status(ctx context.Context) (*apitypes.SleepStatus, error) {
	return fetch[apitypes.SleepStatus](ctx, h.client, newRequest(http.MethodGet, "sleep"))
}

// Pause pauses the runs of sleep-time memory until Resume is called. Runs in progress continue.
func (h Sleep) Pause(ctx context.Context) (*apitypes.SleepStatus, error) {
	return h.post(ctx, "pause")
}

// Resume resumes the runs of sleep-time memory.
func (h Sleep) Resume(ctx context.Context) (*apitypes.SleepStatus, error) {
	return h.post(ctx, "resume")
}

// Retry makes the failed runs of at most 1,000 conversations due now. Without Retry, a failed run
// is repeated after an increasing delay.
func (h Sleep) Retry(ctx context.Context) (*apitypes.SleepStatus, error) {
	return h.post(ctx, "retry")
}

func (h Sleep) post(ctx context.Context, act string) (*apitypes.SleepStatus, error) {
	r := newRequest(http.MethodPost, "sleep", act)
	r.repeatable = true
	return fetch[apitypes.SleepStatus](ctx, h.client, r)
}

// AddMessages adds messages to the transcript of a session, for the app's sleep-time memory. If the
// session does not exist, AddMessages starts it.
func (h Sessions) AddMessages(ctx context.Context, session string, messages apitypes.MessagesRequest) (*apitypes.MessagesAdded, error) {
	return fetchWith[apitypes.MessagesAdded](ctx, h.client, newRequest(http.MethodPost, "sessions", session, "messages"), messages)
}
