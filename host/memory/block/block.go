package block

import (
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// A Block contains the text of a block and its metadata.
type Block struct {
	// ID identifies the text among all texts of the user. ID begins with the name of the block. If
	// the text belongs to an agent, "@" and the id of the agent follow the name.
	ID string
	// Name is the name of the block, such as "core". In JSON, the member for Name is "block_type".
	Name    string
	Content string
	// Agent is the id of the agent to which the text belongs, or "" if the text belongs to the
	// user.
	Agent string
	// Created is the time of the first write. Updated is the time of the last write, in whole
	// milliseconds. Each write increases Updated. A write increases Updated even if the previous
	// write deleted the text.
	Created, Updated time.Time
	// Revision is the time Updated in milliseconds since 1970.
	Revision int64
}

// Scope returns the scope of the text. The scope is ScopeUser or ScopeAgent.
func (b Block) Scope() Scope {
	if b.Agent != "" {
		return ScopeAgent
	}
	return ScopeUser
}

// A Scope states to whom a text belongs: to a user, or to an agent and a user together.
type Scope string

// The scopes.
const (
	ScopeUser  Scope = "user"
	ScopeAgent Scope = "agent"
	// ScopeAll selects the texts of all scopes when texts are listed. No text has the scope
	// ScopeAll.
	ScopeAll Scope = "all"
)

// JSON contains the fields of a Block in the form for JSON encoding. In the JSON text, times have a
// precision of milliseconds.
type JSON struct {
	ID       string  `json:"id"`
	Name     string  `json:"block_type"`
	Content  string  `json:"content"`
	Scope    Scope   `json:"scope"`
	Agent    *string `json:"agent_id"`
	Created  string  `json:"created_at"`
	Updated  string  `json:"updated_at"`
	Revision int64   `json:"revision"`
}

// JSON returns the block in the form for JSON encoding.
func (b Block) JSON() JSON {
	out := JSON{
		ID: b.ID, Name: b.Name, Content: b.Content, Scope: b.Scope(), Created: FormatTime(b.Created), Updated: FormatTime(b.Updated), Revision: b.Revision,
	}
	if b.Agent != "" {
		out.Agent = &b.Agent
	}
	return out
}

// MarshalJSON implements json.Marshaler.
func (b Block) MarshalJSON() ([]byte, error) { return json.Marshal(b.JSON()) }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Block) UnmarshalJSON(text []byte) error {
	var in JSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*b = Block{ID: in.ID, Name: in.Name, Content: in.Content, Revision: in.Revision}
	if in.Agent != nil {
		b.Agent = *in.Agent
	}
	b.Created, _ = ParseTime(in.Created)
	b.Updated, _ = ParseTime(in.Updated)
	return nil
}

// Of decodes the block in a record. The record must exist and belong to a store of blocks.
func Of(r storage.Record) (Block, error) {
	b := Block{
		Name: r.Key.Part(storage.Store), Agent: r.Key.Part(storage.Agent), Created: r.Created, Updated: time.UnixMilli(r.Revision).UTC(), Revision: r.Revision,
	}
	if b.ID = b.Name; b.Agent != "" {
		b.ID += "@" + b.Agent
	}
	err := json.Unmarshal(r.Content, &b.Content)
	return b, err
}

// Match is a line that matches the query of a search. The line belongs to a block.
type Match struct {
	// Content is the line without its list marker.
	Content string `json:"content"`
	// Score is the relevance of the line, from 0 to 1.
	Score float64 `json:"score"`
	// Name is the name of the block.
	Name  string  `json:"block_type"`
	Scope Scope   `json:"scope"`
	Agent *string `json:"agent_id"`
	// Line is the number of the line within the block. The first line has the number 1.
	Line    int    `json:"line_number"`
	Updated string `json:"updated_at"`
}
