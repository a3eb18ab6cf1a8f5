package partition

import (
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// dueLayout is the format of times in the keys of scheduled runs. Texts in this format have the
// same order as their times.
const dueLayout = "2006-01-02T15:04:05.000000Z"

// Due returns the key of the scheduled run of a session. The session belongs to the caller's
// tenant. If the keys of a tenant's scheduled runs are sorted, their times are sorted too.
func (a App) Due(c Caller, at time.Time, session string) storage.Key {
	return a.System(SleepDue, c, storage.Part{Tag: storage.Item, Value: at.UTC().Format(dueLayout)},
		storage.Part{Tag: storage.Item, Value: session})
}

// DueOf parses a key that Due returned. DueOf returns the time and the session in the key. DueOf
// returns false for any other key.
func DueOf(key storage.Key) (at time.Time, session string, ok bool) {
	parts, err := key.Parts()
	if err != nil || len(parts) < 2 || key.Part(storage.System) != SleepDue {
		return at, "", false
	}
	last := parts[len(parts)-2:]
	if last[0].Tag != storage.Item || last[1].Tag != storage.Item {
		return at, "", false
	}
	at, err = time.Parse(dueLayout, last[0].Value)
	return at, last[1].Value, err == nil
}
