package apitypes

import (
	"encoding/json"
	"time"
)

// Collection describes a collection of an app, and mirrors the type memory.CollectionDetails.
type Collection struct {
	Name      string `json:"name" doc:"Name of the collection" example:"articles"`
	Declared  bool   `json:"declared" doc:"Whether the app declares the collection"`
	Access    string `json:"access" enum:"user,session,application" doc:"Owner of the entries. In a collection without a declaration, namespaces with a name belong to users"`
	Retention string `json:"retention,omitempty" doc:"Lifetime of the entries" example:"90d"`
	Language  string `json:"language,omitempty" doc:"Language of the stems in searches" example:"english"`
	Erase     string `json:"erase,omitempty" enum:"author,never" doc:"Whether the erasure of a user removes the entries that the user's runs wrote, if the entries belong to the app"`
	Embedding string `json:"embedding" doc:"Name of the declared embedding model" example:"lexical"`
	// Embedder and Dimension are zero before the first entry is stored.
	Embedder  string `json:"embedder,omitempty" doc:"Model that created the stored vectors; missing before the first entry" example:"lexical-1"`
	Dimension int    `json:"dimension,omitempty" doc:"Dimension of the stored vectors" example:"512"`
	// MovingTo is nil unless the entries are being moved to another model.
	MovingTo   *MoveTarget `json:"moving_to,omitempty" doc:"Model to which the entries are currently moved; missing if no move is in progress"`
	Entries    int         `json:"entries" doc:"Number of entries"`
	Bytes      int64       `json:"bytes" doc:"Size of the contents, the metadata and the vectors"`
	Namespaces int         `json:"namespaces" doc:"Number of namespaces, by owner"`
	More       bool        `json:"more,omitempty" doc:"Whether only a part of the entries was counted"`
}

// MoveTarget is the model to which the entries of a collection are being moved.
type MoveTarget struct {
	Embedder  string `json:"embedder" doc:"Model that makes the new vectors"`
	Dimension int    `json:"dimension" doc:"Dimension of the new vectors"`
}

// Reembedding is the state of a move of a collection to the declared embedding model.
type Reembedding struct {
	Embedder  string `json:"embedder" doc:"Model that the app declares for the collection" example:"lexical-1"`
	Dimension int    `json:"dimension" doc:"Dimension of the vectors of the model" example:"512"`
	Moved     int    `json:"moved" doc:"Number of entries that have new vectors since the start of the move, including earlier requests"`
	Done      bool   `json:"done" doc:"Whether the move to the model is complete. If it is not complete, repeat the request"`
}

// Entry is an entry of a collection, and mirrors the type memory.Entry.
type Entry struct {
	Namespace string `json:"namespace" doc:"The namespace, or an empty text for the default namespace" example:"s1"`
	ID        string `json:"id" doc:"Id of the entry in its namespace" example:"r1"`
	// User and Session identify the owner of the namespace.
	User    string `json:"user_id,omitempty" doc:"User who owns the namespace"`
	Session string `json:"session_id,omitempty" doc:"Session that owns the namespace"`
	Author  string `json:"author,omitempty" doc:"User whose erasure removes the entry, if the entry belongs to the app"`
	// Content and Metadata are JSON values.
	Content  json.RawMessage `json:"content" doc:"A text or another JSON value"`
	Metadata json.RawMessage `json:"metadata,omitempty" doc:"JSON object"`
	Revision int64           `json:"revision" doc:"Revision of the entry"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated_at"`
	Expires  *time.Time      `json:"expires_at,omitempty" doc:"End of the lifetime; missing if the entry does not expire"`
}

// NewEntry is an entry to store.
type NewEntry struct {
	ID        string          `json:"id,omitempty" maxLength:"256" doc:"Id of the entry in its namespace. An entry with the same id is replaced. Default: a new id" example:"r1"`
	Namespace string          `json:"namespace,omitempty" maxLength:"256" doc:"The namespace. Default: the default namespace" example:"s1"`
	Content   json.RawMessage `json:"content" doc:"A text or another JSON value"`
	Metadata  json.RawMessage `json:"metadata,omitempty" doc:"JSON object with the values by which a search can filter"`
	TTL       string          `json:"ttl,omitempty" maxLength:"32" doc:"Lifetime of the entry. Default: the retention of the collection" example:"30d"`
}

// NewEntries is a request to store entries in one transaction.
type NewEntries struct {
	Entries []NewEntry `json:"entries" nullable:"false" minItems:"1" maxItems:"100"`
}

// StoredEntry identifies an entry that was stored.
type StoredEntry struct {
	ID      string     `json:"id" doc:"Id of the entry"`
	Expires *time.Time `json:"expires_at,omitempty" doc:"End of the lifetime; missing if the entry does not expire"`
}

// StoredEntries lists stored entries in the order of the request.
type StoredEntries struct {
	Entries []StoredEntry `json:"entries" nullable:"false"`
}

// EntrySearch is a request to search one namespace of a collection.
type EntrySearch struct {
	Query     string          `json:"query" minLength:"1" doc:"Text to search for" example:"broken cup"`
	Namespace string          `json:"namespace,omitempty" maxLength:"256" doc:"The namespace to search. Default: the default namespace"`
	Limit     int             `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of results. Default: 10"`
	Threshold float64         `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"Minimum score of the results"`
	Filter    json.RawMessage `json:"filter,omitempty" doc:"Conditions on the metadata: a JSON object with a value, {in: [...]}, or {gte, lte} for each name"`
	Mode      string          `json:"mode,omitempty" enum:"hybrid,vector,text" doc:"The comparison. Default: hybrid"`
	Scores    bool            `json:"scores,omitempty" doc:"Whether the results contain the parts of their scores"`
}

// FoundEntry is an entry that a search has found.
type FoundEntry struct {
	ID       string          `json:"id" example:"r1"`
	Content  json.RawMessage `json:"content" doc:"A text or another JSON value"`
	Metadata json.RawMessage `json:"metadata" doc:"JSON object"`
	Score    float64         `json:"score" minimum:"0" maximum:"1" doc:"Relevance of the entry"`
	// Vector and Text are nil unless EntrySearch.Scores is true.
	Vector *float64 `json:"vector,omitempty" doc:"Similarity of the vectors, with scores"`
	Text   *float64 `json:"text,omitempty" doc:"Relevance of the words, with scores"`
}

// FoundEntries lists the results of a search, with the best result first.
type FoundEntries struct {
	Results []FoundEntry `json:"results" nullable:"false"`
	Count   int          `json:"count" doc:"Number of results"`
}

// EntrySelector selects entries of a namespace. Exactly one of the members id, filter and all must
// be present.
type EntrySelector struct {
	Namespace string          `json:"namespace,omitempty" maxLength:"256" doc:"The namespace. Default: the default namespace"`
	ID        string          `json:"id,omitempty" maxLength:"256" doc:"Id of the entry"`
	Filter    json.RawMessage `json:"filter,omitempty" doc:"Conditions on the metadata, as in a search"`
	All       bool            `json:"all,omitempty" doc:"Selects all entries of the namespace"`
}

// Forgotten is the result of the removal of entries.
type Forgotten struct {
	Count int  `json:"count" doc:"Number of removed entries"`
	More  bool `json:"more" doc:"Whether the selection has more entries than one request removes. Repeat the request to remove the other entries"`
}

// CollectionPath is a path parameter that contains the name of a collection.
type CollectionPath struct {
	Collection string `path:"collection" minLength:"1" maxLength:"64" doc:"Name of the collection"`
}

// CollectionPlace selects a collection and the owner of its entries.
type CollectionPlace struct {
	Target
	CollectionPath
	UserQuery
	Session string `query:"session_id" maxLength:"128" doc:"Session of the entries of a collection with the access session"`
}

// ImportQuery contains the options of an import of a file.
type ImportQuery struct {
	Source    string `query:"source" maxLength:"1024" doc:"Name of the document in the metadata of its entries. An import replaces the entries of an earlier import with the same source and namespace. Default: the name of the file" example:"guides/setup.md"`
	Namespace string `query:"namespace" maxLength:"256" doc:"Namespace of the entries. Default: the default namespace"`
	Metadata  string `query:"metadata" maxLength:"4096" doc:"JSON object that becomes a part of the metadata of each entry. The names source, page, heading and offset are reserved" example:"{\"category\":\"manual\"}"`
	TTL       string `query:"ttl" maxLength:"32" doc:"Lifetime of the entries. Default: the retention of the collection" example:"30d"`
}

// ImportedFile is the result of the import of a file.
type ImportedFile struct {
	Source    string `json:"source" doc:"Name of the document in the metadata of its entries" example:"guides/setup.md"`
	Entries   int    `json:"entries" doc:"Number of entries of the document"`
	Unchanged int    `json:"unchanged" doc:"Number of entries that an earlier import had stored and that have not changed"`
	Removed   int    `json:"removed" doc:"Number of removed entries from an earlier import of the document"`
	Truncated bool   `json:"truncated,omitempty" doc:"Whether a part of the text was not imported, because the text exceeds a limit or is unreadable"`
}
