package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// LedgerEntry says what a run, or an act of an operator, read and wrote. It holds names, revisions and what did not fit a
// schema, never content.
type LedgerEntry struct {
	Run string `json:"run_id"`
	// Act is what it was: run, dry_run, render; of operators operate, list, purge, erase, declare, export, import, download, export_user.
	Act  string `json:"act"`
	Tool string `json:"tool,omitempty"`
	// File is the id of the file that was downloaded.
	File string `json:"file_id,omitempty"`
	// Actor is who asked for it, as the platform calls its programs: the name of a key, never a secret.
	Actor   string `json:"actor,omitempty"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// At is when it began.
	At time.Time `json:"at"`
	// Code is that of the fault that it ended with; "" where it succeeded.
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
}

// LedgerQuery says which entries are looked for. Zero fields ask for nothing.
type LedgerQuery struct {
	// After is the Run of the last entry that is known; entries come in the order of their ids, which is that of time.
	After string
	// Since and Until bound the time: from Since, before Until.
	Since, Until time.Time
	// User, Session, Tool and Store are those of the entry; a store is one that it read or wrote.
	User, Session, Tool, Store string
	// Writes asks for entries that wrote something.
	Writes bool
	// Failed asks for entries that ended with a fault.
	Failed bool
	// Limit is how many are answered at most, at least 1.
	Limit int
}

func (q LedgerQuery) matches(e LedgerEntry) bool {
	return (q.User == "" || q.User == e.User) && (q.Session == "" || q.Session == e.Session) &&
		(q.Tool == "" || q.Tool == e.Tool) && (!q.Writes || len(e.Writes) > 0) && (!q.Failed || e.Code != "") &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) && (q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Store == "" || e.touches(q.Store))
}

func (e LedgerEntry) touches(store string) bool {
	for _, r := range e.Reads {
		if r.Store == store {
			return true
		}
	}
	for _, w := range e.Writes {
		if w.Store == store {
			return true
		}
	}
	return false
}

// ledgerKey is where the entry of a run lies: ids sort by time but for their first word.
func (s *Service) ledgerKey(c Caller, run string) storage.Key {
	if _, rest, ok := strings.Cut(run, "_"); ok {
		run = rest
	}
	return s.system(systemLedger, c, storage.Part{Tag: storage.Item, Value: run})
}

// ledgerFrom is a key before those of entries from a time on, "" for all. The ids of entries are ULIDs, which begin with
// their time: that of an entry, which its At does not come before by more than the slack.
func (s *Service) ledgerFrom(c Caller, since time.Time) storage.Key {
	const slack = time.Second
	since = since.Add(-slack)
	if since.UnixMilli() <= 0 {
		return ""
	}
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // of ULIDs, in which 10 of 26 are the milliseconds
	id := []byte(strings.Repeat("0", 26))
	for i, ms := 9, since.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		id[i] = digits[ms&31]
	}
	return s.ledgerKey(c, string(id))
}

// noteEntry adds the entry of a run to the writes of its commit.
func (s *Service) noteEntry(writes []storage.Write, c Caller, e LedgerEntry) ([]storage.Write, error) {
	e.Writes = slices.Clone(e.Writes)
	for i, w := range e.Writes {
		e.Writes[i].Violations = s.publicViolations(w)
	}
	return s.writeSystem(writes, storage.Record{}, s.ledgerKey(c, e.Run), e, s.now().Add(s.ledgerRetention), Caller{Run: c.Run, User: e.User, Session: e.Session})
}

// ledgerViolations bounds the violations that the ledger keeps of one write.
const ledgerViolations = 20

// publicViolations are the first violations of a write, with nothing of the content in them: of the names in their
// pointers only those that the schema declares.
func (s *Service) publicViolations(w report.WriteEffect) []abi.Violation {
	st := s.stores[w.Store]
	if st == nil || st.schema == nil {
		return nil
	}
	kept := slices.Clone(w.Violations[:min(len(w.Violations), ledgerViolations)])
	for i, v := range kept {
		kept[i].Pointer = st.schema.Public(v.Pointer)
	}
	return kept
}

// KeepsLedger reports whether there is a ledger.
func (s *Service) KeepsLedger() bool { return s.ledgerRetention > 0 }

// Note adds entries to the tenant's ledger. A run that wrote something is in there with its commit.
func (s *Service) Note(ctx context.Context, tenant string, entries []LedgerEntry) error {
	if !s.KeepsLedger() || len(entries) == 0 {
		return nil
	}
	c := Caller{Tenant: tenant}
	keys := make([]storage.Key, len(entries))
	marks := map[string]int{}    // the places of the marks of erased users
	sessions := map[string]int{} // the places of the marks of erased sessions, for entries that name no user
	for i, e := range entries {
		keys[i] = s.ledgerKey(c, e.Run)
	}
	for _, e := range entries {
		if _, known := marks[e.User]; e.User != "" && !known {
			marks[e.User] = len(keys)
			keys = append(keys, s.erasedKey(Caller{Tenant: tenant, User: e.User}))
		}
		if _, known := sessions[e.Session]; e.User == "" && e.Session != "" && !known && checkSessionID(e.Session) == nil {
			sessions[e.Session] = len(keys)
			keys = append(keys, s.erasedSessionKey(Caller{Tenant: tenant, Session: e.Session}))
		}
	}
	err := s.backend.Update(ctx, storage.Keys(keys...), func(now []storage.Record) (writes []storage.Write, err error) {
		for i, e := range entries {
			if now[i].Exists() {
				continue // the commit has noted it
			}
			if at, ok := marks[e.User]; ok && now[at].Exists() && !now[at].Updated.Before(e.At) {
				e.User, e.Session = "", "" // who was erased since must not be in there
			}
			if at, ok := sessions[e.Session]; ok && e.User == "" && now[at].Exists() {
				e.Session = ""
			}
			if writes, err = s.noteEntry(writes, Caller{Tenant: tenant, Run: e.Run}, e); err != nil {
				return nil, err
			}
		}
		return writes, nil
	})
	return s.hostFault("write the ledger", err)
}

// ledgerLooks bounds how many entries one query looks at.
const ledgerLooks = 2_000

// Ledger returns the entries of a tenant that a query asks for, oldest first. More reports that there may be others
// after next, which is to be the After of the query that asks for them.
func (s *Service) Ledger(ctx context.Context, tenant string, q LedgerQuery) (found []LedgerEntry, next string, more bool, err error) {
	if q.Limit < 1 {
		return nil, "", false, abi.Faultf(abi.InvalidArgument, "a list needs a limit of at least 1")
	}
	c := Caller{Tenant: tenant}
	prefix := s.system(systemLedger, c)
	after := s.ledgerFrom(c, q.Since)
	if q.After != "" {
		after = max(after, s.ledgerKey(c, q.After))
	}
	found = []LedgerEntry{}
	held := pageContents{}
	for looked := 0; looked < ledgerLooks; {
		chunk, last, err := s.scanPart(ctx, prefix, after)
		if err != nil {
			return nil, "", false, s.hostFault("read the ledger", err)
		}
		for _, r := range chunk {
			e, err := decodeEntry(r)
			if err != nil {
				return nil, "", false, s.hostFault("read the ledger", err)
			}
			asked := !r.Expired(s.now()) && q.matches(e)
			if asked && !held.add(int64(len(r.Content))) {
				return found, next, true, nil
			}
			after, next = r.Key, e.Run
			if !asked {
				continue
			}
			if found = append(found, e); len(found) == q.Limit {
				return found, next, true, nil
			}
		}
		if last {
			return found, next, false, nil
		}
		looked += max(len(chunk), 1)
	}
	return found, next, true, nil
}

func decodeEntry(r storage.Record) (LedgerEntry, error) {
	var e LedgerEntry
	if err := json.Unmarshal(r.Content, &e); err != nil {
		return e, fmt.Errorf("ledger: %w: %w", storage.ErrCorrupt, err)
	}
	return e, nil
}
