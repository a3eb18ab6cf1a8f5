package agent

// Request is the input of a turn.
type Request struct {
	// Agent is the agent that performs the turn. The default is the agent that answers in the
	// session. The first turn of a session must set Agent, unless the app has only one agent.
	Agent string
	// Message is the message of the user. If a turn has neither a message nor an event, it begins
	// the flow, or repeats the question of the waiting step.
	Message    string
	HasMessage bool
	// Event is the name of an event, such as "tool:search:after". The turn then fires this event
	// instead of passing a message.
	Event string
}
