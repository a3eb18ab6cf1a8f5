package partition

import (
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// dueLayout is the layout of the time in the key of a scheduled run. Texts in the layout have the
// same order as the times.
const dueLayout = "2006-01-02T15:04:05.000000Z"

// Due returns the key of the scheduled run for a session of the caller's tenant. The keys of a
// tenant's scheduled runs sort by time.
func (a App) Due(c Caller, at time.Time, session string) storage.Key {
	return a.System(SleepDue, c, storage.Part{Tag: storage.Item, Value: at.UTC().Format(dueLayout)},
		storage.Part{Tag: storage.Item, Value: session})
}

// DueOf returns the time and the session in a key that Due returned. DueOf returns false for any
// other key.
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
