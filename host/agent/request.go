package agent

// Request is the input of a turn.
type Request struct {
	// Agent is the agent that performs the turn. The default is the agent that answers in the
	// session. The first turn of a session must select an agent, unless the app has only one agent.
	Agent string
	// Message is the message of the user. If the turn has no message, it begins the flow, or
	// repeats the question of the waiting step.
	Message    string
	HasMessage bool
	// Event is an event that the turn fires instead of passing a message, such as
	// "tool:search:after".
	Event string
}
