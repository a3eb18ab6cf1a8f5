package apitypes

import "encoding/json"

// Agent describes an agent of an app.
type Agent struct {
	Name string `json:"name" example:"Hotel_Booking"`
	Goal string `json:"goal,omitempty"`
	// Tools are the tools that the agent calls. Facts are the paths of the facts that the agent
	// declares. Events are the events at which the agent recalls facts.
	Tools  []string `json:"tools" nullable:"false" doc:"Tools that the agent calls"`
	Facts  []string `json:"facts" nullable:"false" doc:"Paths of the facts that the agent declares"`
	Events []string `json:"events" nullable:"false" doc:"Events at which the agent recalls facts"`
}

// AgentPath is a path parameter that contains the name of an agent.
type AgentPath struct {
	Agent string `path:"agent" minLength:"1" maxLength:"128" doc:"Name of the agent"`
}

// TurnRequest is a request for a turn of an agent.
type TurnRequest struct {
	Message *string `json:"message,omitempty" doc:"Message of the user. Without a message and an event, the turn begins the flow or, if a step waits for input, repeats the question of that step" example:"Hello"`
	Event   string  `json:"event,omitempty" maxLength:"256" doc:"Event to fire instead of a message" example:"tool:search:after"`
	// If Policy is nil, the default policy applies.
	Policy *MemoryPolicy `json:"memory_policy,omitempty" doc:"Which blocks of the user the models of the turn see"`
	TurnFields
}

// TurnFields are the fields that all requests to agents have in common.
type TurnFields struct {
	Session          string          `json:"session_id,omitempty" maxLength:"128" doc:"Id of the session. A session that does not exist is started. Default: a new session. With credentials of a user, the session must belong to that user" example:"sess_123"`
	Workflow         string          `json:"workflow_id,omitempty" maxLength:"128" doc:"Id of the workflow of the turn. Facts with the scope execution_tree belong to the workflow. A workflow that does not exist is started. With credentials of a user, the workflow must be the workflow in the claim of the credentials" example:"order_77"`
	User             string          `json:"user_id,omitempty" maxLength:"256" doc:"User on whose behalf the turn is performed. Credentials of a user can name only that user"`
	Metadata         json.RawMessage `json:"metadata,omitempty" doc:"Merge patch (RFC 7396) for the session's metadata. The patch is applied before the turn, and is not undone if the turn fails"`
	SessionReference string          `json:"session_reference,omitempty" maxLength:"256" doc:"The platform's own id of the session"`
	UserReference    string          `json:"user_reference,omitempty" maxLength:"256" doc:"The platform's own id of the user"`
	TimeoutMS        int64           `json:"timeout_ms,omitempty" minimum:"1" maximum:"180000" doc:"Time limit of the turn in milliseconds. Default: 180000"`
	DryRun           bool            `json:"dry_run,omitempty" doc:"Store nothing. The member changes of the response contains the changes that would be stored"`
	TestFields
}

// RuleFields are the fields of requests that apply the rules of an agent. A platform with its own
// agent loop sends these requests.
type RuleFields struct {
	Message   *string        `json:"message,omitempty" doc:"Message of the user. The rules of the agent read the message as input" example:"Hello"`
	Variables map[string]any `json:"variables,omitempty" doc:"Session variables that the platform sets. Default: the stored variables. Credentials of a user cannot set them"`
	TurnFields
}

// EventRequest is a request to fire an event.
type EventRequest struct {
	Event string `json:"event" minLength:"1" maxLength:"256" doc:"The event" example:"session:start"`
	RuleFields
}

// CheckRequest is a request to check the constraints of an agent.
type CheckRequest struct {
	Before string `json:"before,omitempty" maxLength:"256" pattern:"^(calling [^ ]+|returning results)$" doc:"The checkpoint: 'calling TOOL' or 'returning results'. Default: the constraints of each step" example:"calling book_room"`
	RuleFields
}

// TriggerRequest is a request to evaluate the triggers of an agent.
type TriggerRequest struct{ RuleFields }
