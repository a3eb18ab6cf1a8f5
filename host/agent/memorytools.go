package agent

import "encoding/json"

// Agents use the memory blocks of the user by calling tools with these names.
const (
	RecallMemory = "recall_memory"
	UpdateMemory = "update_memory"
)

// MemoryTools returns the tools for the memory blocks of the user. Agents search and change the
// blocks by calling these tools. An app has these tools if the app declares memory blocks. If the
// app declares a tool with the same name, Env.CallTool executes the declared tool instead. An agent
// can call one of these tools only if TOOLS of the agent lists the tool.
func MemoryTools() []Tool {
	return []Tool{
		{Name: RecallMemory, Description: "Searches what is remembered about the user and returns the matching lines, best match first.", Parameters: json.RawMessage(recallParameters)},
		{Name: UpdateMemory, Description: "Changes what is remembered about the user. Entries are lines such as \"- Prefers tea\".", Parameters: json.RawMessage(updateParameters)},
	}
}

const recallParameters = `{
  "type": "object", "additionalProperties": false, "required": ["query"],
  "properties": {
    "query": {"type": "string", "description": "the words to search for"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "the maximum number of lines; the default is 10"},
    "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "the minimum relevance of a line"}
  }
}`

const updateParameters = `{
  "type": "object", "additionalProperties": false, "required": ["content"],
  "properties": {
    "block": {"type": "string", "description": "the block to change; the default is core, which is part of every request"},
    "content": {"type": "string", "description": "the new text, which replaces the whole block, or the lines to append"},
    "append": {"type": "boolean", "description": "add the content to the block instead of replacing it"},
    "scope": {"enum": ["user", "agent"], "description": "agent: only this agent remembers it; the default is user"},
    "expected_updated_at": {"type": ["string", "null"], "description": "the version that the content replaces; the default is the version in this prompt"}
  }
}`
