package report

// MemoryContext contains the texts from blocks that a prompt can include.
type MemoryContext struct {
	// UserMemory is the text of the blocks with the use "context". If no block has this use,
	// UserMemory is "".
	UserMemory string `json:"user_memory"`
	// SystemReminders contains lines that match the message of the user. The best match is the
	// first line. SystemReminders come from blocks with the use "recall". Only the model, not the
	// user, should see SystemReminders.
	SystemReminders []string `json:"system_reminders"`
}

// InjectedMemory is the MemoryContext that an agent used in a turn.
type InjectedMemory struct {
	// Agent is the name of the agent. The prompts for the models of this agent contained the
	// memory.
	Agent string `json:"agent"`
	MemoryContext
}
