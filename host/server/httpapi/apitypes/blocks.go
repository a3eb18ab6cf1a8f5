package apitypes

import "encoding/json"

// Block is a text about a user. Depending on its declaration, the text becomes part of prompts or
// is searched on request.
type Block struct {
	// ID identifies the block among the blocks of the user.
	ID   string `json:"id" doc:"Id of the block among the blocks of the user" example:"core"`
	Type string `json:"block_type" doc:"Name of the block" example:"core"`
	// Content is the whole text. A write replaces it.
	Content string `json:"content" doc:"The whole text of the block. A write replaces the whole text" example:"- Prefers concise account summaries"`
	Scope   string `json:"scope" enum:"user,agent" doc:"Whether the block belongs to the user, or to the user and one agent"`
	// Agent is nil in the scope "user".
	Agent *string `json:"agent_id" doc:"Agent of the block, if the block has the scope agent"`
	// Created and Updated are times in the format of RFC 3339, in UTC with milliseconds. Each write
	// sets Updated to a later time than all earlier writes of the same block, even if the block was
	// deleted before the write. Updated is the version of the block.
	Created  string `json:"created_at" format:"date-time" example:"2026-04-30T16:20:00.000Z"`
	Updated  string `json:"updated_at" format:"date-time" doc:"Time of the last write. Each write of a block has a later time than all earlier writes" example:"2026-04-30T16:20:00.000Z"`
	Revision int64  `json:"revision" doc:"The revision, which is also the ETag"`
}

// Blocks is a list of blocks.
type Blocks struct {
	Blocks []Block `json:"blocks" nullable:"false"`
}

// BlockDeclaration describes a block that the app declares, and contains the limits of the block.
type BlockDeclaration struct {
	Name        string `json:"block_type" doc:"Name of the block" example:"core"`
	Description string `json:"description,omitempty" doc:"Purpose of the block"`
	Use         string `json:"use" enum:"context,recall" doc:"context: prompts contain the text of the block; recall: searches return lines of the block"`
	Characters  int    `json:"characters" doc:"Maximum number of characters (Unicode code points) of the text" example:"4000"`
	// Entries is nil if the number of lines is not limited.
	Entries  *int   `json:"entries" doc:"Maximum number of lines that are not blank, or null if the number is not limited" example:"20"`
	Language string `json:"language" doc:"Language of the stems in searches" example:"english"`
	Shared   bool   `json:"shared" doc:"Whether all apps of the tenant share the text of a user"`
}

// BlockDeclarations is a list of the blocks that an app declares, in the order of the app file.
type BlockDeclarations struct {
	Blocks []BlockDeclaration `json:"blocks" nullable:"false"`
}

// BlockQuery selects the user and the agent of blocks.
type BlockQuery struct {
	Target
	UserQuery
	Agent string `query:"agent_id" maxLength:"256" doc:"Id of the agent. With this parameter, the default scope is agent"`
}

// BlockPlace identifies a block by its name, its user and its agent.
type BlockPlace struct {
	BlockQuery
	Block string `path:"block" minLength:"1" maxLength:"64" doc:"Name of the block, such as core or archival"`
	Scope string `query:"scope" enum:"user,agent" doc:"Scope of the block. Default: agent if the request names an agent, else user"`
}

// BlockUpdate contains the new content of a block, and the expected time of the last write of the
// block.
type BlockUpdate struct {
	Content string `json:"content" doc:"The new text of the block" example:"- Prefers concise account summaries"`
	// Expected is nil if the block must not exist. If the request has the header If-Match or
	// If-None-Match, the member expected_updated_at must be missing.
	Expected *string `json:"expected_updated_at,omitempty" nullable:"true" maxLength:"64" doc:"The updated_at of the block that you last read. A time without a zone is in UTC. If the member is null or missing, the block must not exist. The member must be missing if the request has the header If-Match or If-None-Match" example:"2026-04-30T16:20:00"`
	// HasExpected reports whether a request contains the member expected_updated_at, which can be
	// null. HasExpected is set only by UnmarshalJSON.
	HasExpected bool `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *BlockUpdate) UnmarshalJSON(text []byte) error {
	type members BlockUpdate // without this method
	if err := json.Unmarshal(text, (*members)(u)); err != nil {
		return err
	}
	var member struct {
		Expected json.RawMessage `json:"expected_updated_at"`
	}
	err := json.Unmarshal(text, &member)
	u.HasExpected = member.Expected != nil
	return err
}
