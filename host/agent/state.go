package agent

// SessionState is the state of the agents in a session.
type SessionState struct {
	// Active is the agent that answers the next message, "" in a new session.
	Active string `json:"active"`
	// Turns is the number of turns.
	Turns int `json:"turns"`
	// Injected are the values that recalls have loaded, by path, for all agents of the session.
	Injected map[string]any `json:"injected,omitempty"`
}

// State is the state of an agent in a session.
type State struct {
	// Variables are the session variables that have a value, by name.
	Variables map[string]any `json:"variables"`
	// Step is the step that waits for input, or "" if the flow has not begun or is complete.
	Step string `json:"step,omitempty"`
	// Collecting is the field that the step asks for.
	Collecting string `json:"collecting,omitempty"`
	// Collected are the fields that the step has collected.
	Collected []string `json:"collected,omitempty"`
	// Attempts are the numbers of attempts of steps that limit them.
	Attempts map[string]int `json:"attempts,omitempty"`
	// Stored are the digests of the values that triggers last stored, by the position of the trigger
	// in the list.
	Stored map[int]string `json:"stored,omitempty"`
}
