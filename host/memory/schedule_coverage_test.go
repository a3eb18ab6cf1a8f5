package memory_test

import (
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// mustCover lists the situations that the test must cover. For each of these situations, the test
// fails if no seed causes the situation.
var mustCover = []string{
	"torn read ended an attempt", "absent record appeared", "deleted and created again", "expired during an attempt",
	"session ended in mid-run", "user erased in mid-run", "schema refused at a later merge", "conflict",
	"blind merge on a changed record", "lost reply", "lost reply found out",
	"read-only run", "thrown", "fault let through", "two hosts", "bound anonymous session in mid-run", "waited for a turn",
}

// cover counts the situations that occurred in a scenario.
func (s *scenario) cover(counts map[string]int) {
	if len(s.hosts) > 1 {
		counts["two hosts"]++
	}
	for _, h := range s.runs {
		h.coverEnd(counts)
		for i, a := range h.attempts {
			if a.torn {
				counts["torn read ended an attempt"]++
			}
			if i > 0 {
				counts["conflict"]++
				coverChange(counts, h.attempts[i-1], a)
			}
		}
	}
}

func (h *runHistory) coverEnd(counts map[string]int) {
	for what, so := range map[string]bool{
		"blind merge on a changed record": h.err == nil && h.changed,
		"lost reply":                      h.unknown(),
		"lost reply found out":            h.err == nil && h.task.Lost() > 0,
		"waited for a turn":               h.task.Waited(),
	} {
		if so {
			counts[what]++
		}
	}
	switch {
	case h.refused():
		counts[map[abi.Code]string{
			abi.SessionEnded: "session ended in mid-run", abi.Cancelled: "user erased in mid-run",
			abi.AccessDenied: "bound anonymous session in mid-run",
		}[abi.Code(h.outcomeCode())]]++
	case h.err == nil && len(h.done.Effects.Writes) == 0:
		counts["read-only run"]++
	case h.err == errThrown:
		counts["thrown"]++
	case h.err != nil && len(h.attempts) > 0 && !h.unknown():
		counts["fault let through"]++
	}
}

// coverChange compares two attempts of a run and finds the first reply that differs. coverChange
// counts the kind of change that explains the different reply.
func coverChange(counts map[string]int, before, after attempt) {
	for i := range min(len(before.trace), len(after.trace)) {
		was, is := before.trace[i], after.trace[i]
		if was == is {
			continue
		}
		old, now := seenRecord(was), seenRecord(is)
		switch {
		case was == "null":
			counts["absent record appeared"]++
		case is == "null" && old.Expires != nil && *old.Expires <= strings.Trim(timeText(after.at), `"`):
			counts["expired during an attempt"]++
		case is == "!"+string(abi.SchemaViolation) && strings.Contains(was, `"revision":null`):
			counts["schema refused at a later merge"]++
		case old.Created != nil && now.Created != nil && *old.Created != *now.Created || now.Revision > 0 && now.Revision <= old.Revision:
			counts["deleted and created again"]++
		}
		return
	}
}

type recordSeen struct {
	Created  *string
	Expires  *string `json:"expires_at"`
	Revision int64
}

func seenRecord(reply string) (r recordSeen) {
	_ = json.Unmarshal([]byte(reply), &r) // if the reply is a fault or a content, r remains empty
	return r
}
