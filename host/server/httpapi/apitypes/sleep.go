package apitypes

import "time"

// MessagesRequest is the body of a request that adds messages to a transcript.
type MessagesRequest struct {
	User     string    `json:"user_id,omitempty" maxLength:"256" doc:"User of the session" example:"ann"`
	Agent    string    `json:"agent_id,omitempty" maxLength:"256" doc:"Agent that was active. Sleep-time memory can change the blocks of this agent" example:"agent_emails"`
	Messages []Message `json:"messages" maxItems:"100" doc:"Messages of the conversation, oldest first; at least one"`
}

// Message is a message of a conversation.
type Message struct {
	Role    string `json:"role" enum:"user,assistant" doc:"Author of the message"`
	Content string `json:"content" maxLength:"65536" doc:"Text of the message. The transcript keeps at most 16 KiB of the text" example:"Please keep it short."`
}

// MessagesAdded is the response to a MessagesRequest.
type MessagesAdded struct {
	Session  string `json:"session_id"`
	Messages int    `json:"messages" doc:"Number of added messages. Messages without text are not added. The number is 0 if the session has no user"`
}

// SleepStatus is the state of the sleep-time memory of an app, and mirrors the type
// host.SleepStatus.
type SleepStatus struct {
	Paused  bool       `json:"paused"`
	Since   *time.Time `json:"since"`
	Due     int        `json:"due"`
	Waiting int        `json:"waiting"`
	Running int        `json:"running"`
	Failed  int        `json:"failed"`
	Next    *time.Time `json:"next"`
	More    bool       `json:"more"`
}
