package declare

import "time"

// Transcripts is the name of a built-in store. This store contains the transcripts of sessions.
const Transcripts = "transcripts"

// KindTranscript is the kind of the store of transcripts. Guests have no operations on the store of
// transcripts.
const KindTranscript Kind = "transcript"

// TranscriptStore returns the declaration of the store of transcripts.
func TranscriptStore() Store {
	return Store{Name: Transcripts, Kind: KindTranscript, Access: ScopeUser}
}

// Sleep is an app's declaration of sleep-time memory. If a session has had no new messages for some
// time, a tool or a model reads the transcript of the session. Sleep-time memory then updates the
// blocks of the user. Either Tool or Model is set, but not both.
type Sleep struct {
	// The field After is the time without new messages after which a session has settled and its
	// transcript is processed.
	After time.Duration
	// Tool is a tool of the app. It proposes new contents for blocks.
	Tool string
	// Model is a model that the operator has configured. It proposes new contents for blocks.
	Model string
	// UserCore allows sleep-time memory to change the blocks of the user that are part of prompts.
	UserCore bool
}

// Sleep.After has this default and these bounds.
const (
	DefaultSleepAfter = 5 * time.Minute
	MinSleepAfter     = time.Second
	MaxSleepAfter     = 24 * time.Hour
)

// TranscriptRetention is the time for which a transcript that is not processed is kept after its
// session has settled or ended.
const TranscriptRetention = 24 * time.Hour
