package apitypes

// RecallRequest is a request to search blocks.
type RecallRequest struct {
	Query    string   `json:"query" minLength:"1" doc:"Words to search for" example:"Acme renewal"`
	Agent    string   `json:"agent_id,omitempty" maxLength:"256" doc:"Also search the blocks of this agent" example:"agent_records"`
	User     string   `json:"user_id,omitempty" maxLength:"256" doc:"User whose blocks are searched. Credentials of a user can name only that user"`
	Limit    *int     `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of results. Default: 10" example:"10"`
	MinScore *float64 `json:"min_score,omitempty" nullable:"true" minimum:"0" maximum:"1" doc:"Minimum score of the results. Default: results include every line with a word of the query"`
}

// Recalled lists the lines that match a query, with the best match first.
type Recalled struct {
	Results []RecalledLine `json:"results" nullable:"false"`
}

// RecalledLine is a line of a block that matches a query.
type RecalledLine struct {
	Content string `json:"content" example:"Acme renewal: CFO wants pricing options before the May 12 exec review."`
	// Score is between 0 and 1.
	Score float64 `json:"score" minimum:"0" maximum:"1" doc:"Relevance of the line. The score is 1 if the line contains all words of the query"`
	Type  string  `json:"block_type" example:"archival"`
	Scope string  `json:"scope" enum:"user,agent"`
	// Agent is nil in the scope "user".
	Agent *string `json:"agent_id" doc:"Agent of the block, if the block has the scope agent"`
	// Line counts from 1.
	Line    int    `json:"line_number" doc:"Number of the line in the block, starting at 1"`
	Updated string `json:"updated_at" format:"date-time" doc:"Time of the last write of the block" example:"2026-04-30T16:20:00.000Z"`
}

// MemoryPolicy controls which blocks a prompt or a turn contains. A field that is nil stands for
// the default value.
type MemoryPolicy struct {
	ArchivalMode     *string  `json:"archival_mode,omitempty" enum:"tool_only,auto,off" doc:"With auto, lines of blocks that match the message become system reminders. Default: tool_only"`
	ArchivalLimit    *int     `json:"archival_limit,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of lines in system reminders. Default: 10"`
	ArchivalMinScore *float64 `json:"archival_min_score,omitempty" nullable:"true" minimum:"0" maximum:"1" doc:"Minimum score of lines in system reminders. Default: null, which includes every match"`
	IncludeUserCore  *bool    `json:"include_user_core,omitempty" doc:"Whether the blocks of the user are included. Default: true"`
	IncludeAgentCore *bool    `json:"include_agent_core,omitempty" doc:"Whether the blocks of the agent are included. Default: true"`
}

// ContextRequest is a request for the blocks that a prompt contains.
type ContextRequest struct {
	Message string        `json:"message,omitempty" doc:"Message of the user, for the archival mode auto" example:"What does Acme need?"`
	Agent   string        `json:"agent_id,omitempty" maxLength:"256" doc:"The active agent" example:"agent_records"`
	User    string        `json:"user_id,omitempty" maxLength:"256" doc:"User of the prompt. Credentials of a user can name only that user"`
	Policy  *MemoryPolicy `json:"memory_policy,omitempty" doc:"Which blocks the prompt contains"`
}

// MemoryContext is the memory for a prompt.
type MemoryContext struct {
	// UserMemory is the text of the blocks, or "" if there are no blocks.
	UserMemory string `json:"user_memory" doc:"The blocks for the prompt; empty if there are none"`
	// SystemReminders are hidden messages for the current turn.
	SystemReminders []string `json:"system_reminders" nullable:"false" doc:"Hidden messages for the current turn"`
}
