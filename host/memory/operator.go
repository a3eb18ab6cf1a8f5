package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Listed is a record as an operator sees it in a list: whose it is and how it stands, without its content.
type Listed struct {
	Store    string     `json:"store"`
	User     string     `json:"user_id,omitempty"`
	Session  string     `json:"session_id,omitempty"`
	Revision int64      `json:"revision"`
	Bytes    int        `json:"bytes"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated_at"`
	Expires  *time.Time `json:"expires_at,omitempty"`
}

// List calls visit with the living records of a store in the caller's tenant: of the caller's user or session
// alone where it has one. It is an operator's act: no tool can list.
func (s *Service) List(ctx context.Context, c Caller, name string, visit func(Listed) error) error {
	st := s.stores[name]
	if st == nil {
		return abi.Faultf(abi.NotFound, "there is no store %s", quote(name))
	}
	open := map[storage.Key]bool{}
	err := s.scanHeads(ctx, s.group(c), func(chunk []storage.Head) error {
		for _, r := range chunk {
			if !s.belongs(r.Key, c, name) {
				continue
			}
			alive, err := s.stillAlive(ctx, st, r.Record, open)
			if err != nil {
				return err
			}
			if !alive {
				continue
			}
			if err := visit(s.listed(st, r)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.hostFault("list records", err)
}

func (s *Service) belongs(key storage.Key, c Caller, name string) bool {
	user, session := key.Part(storage.User), key.Part(storage.Session)
	return key.Part(storage.Store) == name &&
		(c.User == "" || user == "" || user == c.User) &&
		(c.Session == "" || session == "" || session == c.Session)
}

// stillAlive is View.alive for a list, which needs no snapshot; open remembers sessions looked up before.
func (s *Service) stillAlive(ctx context.Context, st *store, r storage.Record, open map[storage.Key]bool) (bool, error) {
	at := s.now()
	if !at.Before(s.endOf(st, r)) {
		return false, nil
	}
	for _, tag := range r.Ends {
		key, ok := sessionOfTag(tag)
		if !ok {
			continue
		}
		if _, known := open[key]; !known {
			records, err := s.backend.Get(ctx, key)
			if err != nil {
				return false, err
			}
			open[key] = s.sessionOpen(records[0], at)
		}
		if !open[key] {
			return false, nil
		}
	}
	return true, nil
}

func (s *Service) listed(st *store, r storage.Head) Listed {
	l := Listed{
		Store: st.Name, User: r.Key.Part(storage.User), Session: r.Key.Part(storage.Session),
		Revision: r.Revision, Bytes: int(r.ContentBytes), Created: r.Created, Updated: r.Updated,
	}
	if end := s.shownEnd(st, r.Record); !end.IsZero() {
		l.Expires = &end
	}
	return l
}

// Purge removes all records of a store in the tenant, declared or not, and returns how many. Without a name it
// is invalid_argument.
func (s *Service) Purge(ctx context.Context, tenant, name string) (int, error) {
	if name == "" {
		return 0, abi.Faultf(abi.InvalidArgument, "a purge needs the name of a store")
	}
	match := func(h storage.Head) bool { return h.Key.Part(storage.Store) == name }
	n, err := s.removeWhere(ctx, s.group(Caller{Tenant: tenant}), match)
	return n, s.hostFault("remove records", err)
}

// Perform executes one operation for an operator, who may do everything to every store, as a transaction of its
// own.
func (s *Service) Perform(ctx context.Context, c Caller, call abi.Call) (json.RawMessage, abi.Effects, error) {
	var reply json.RawMessage
	op, _ := abi.LookupOperation(call.Op)
	done, err := s.Transact(ctx, Tx{Caller: c, Look: op.Verb == abi.Read}, func(ctx context.Context, v *View) (err error) {
		reply, err = v.Call(ctx, call)
		return err
	})
	return reply, done.Effects, err
}
