package declare

import "time"

// Transcripts is the name of the built-in store that contains the transcripts of sessions.
const Transcripts = "transcripts"

// KindTranscript is the kind of the store of transcripts. Guests cannot perform operations on the
// store of transcripts.
const KindTranscript Kind = "transcript"

// TranscriptStore returns the declaration of the store of transcripts.
func TranscriptStore() Store {
	return Store{Name: Transcripts, Kind: KindTranscript, Access: ScopeUser}
}

// Sleep is the declaration of an app's sleep-time memory. When a session has had no new messages
// for some time, a tool or a model reads its transcript and updates the blocks of the user. Exactly
// one of Tool and Model is set.
type Sleep struct {
	// The field After is a time without new messages. If no new messages have arrived for the time
	// in After, a session has settled, and its transcript is processed.
	After time.Duration
	// Tool is the tool of the app that proposes new contents of blocks.
	Tool string
	// Model is the model of the operator that proposes new contents of blocks.
	Model string
	// UserCore allows changes of the blocks of the user that go into prompts.
	UserCore bool
}

// These are the default and the bounds of Sleep.After.
const (
	DefaultSleepAfter = 5 * time.Minute
	MinSleepAfter     = time.Second
	MaxSleepAfter     = 24 * time.Hour
)

// TranscriptRetention is the time for which an unprocessed transcript is kept after its session has
// settled or ended.
const TranscriptRetention = 24 * time.Hour
