package report

// MemoryContext is the part of a prompt that comes from blocks.
type MemoryContext struct {
	// UserMemory is the text of the blocks with the use context. If there are no such blocks,
	// UserMemory is "".
	UserMemory string `json:"user_memory"`
	// SystemReminders are the lines that match the message of the user, starting with the best
	// match. SystemReminders come from blocks with the use recall. SystemReminders are meant for
	// the model, not for the user.
	SystemReminders []string `json:"system_reminders"`
}

// InjectedMemory is the MemoryContext of an agent in a turn.
type InjectedMemory struct {
	// Agent is the name of the agent. The models of this agent received the memory in their
	// prompts.
	Agent string `json:"agent"`
	MemoryContext
}
