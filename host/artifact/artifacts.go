package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// Artifacts keeps the files of an app's sessions, for all its tenants. It is safe for concurrent use.
type Artifacts struct {
	db       *records.DB
	sessions *session.Sessions
	url      func(tenant string, file Artifact) string
}

// New returns the files of the app of db. URL returns the address under which a file can be downloaded until its Expires;
// nil if files have none.
func New(db *records.DB, sessions *session.Sessions, url func(tenant string, file Artifact) string) *Artifacts {
	return &Artifacts{db: db, sessions: sessions, url: url}
}

// Add keeps a file for the caller's session, which it starts if it has not begun. The content is stored first, in several
// commits with those of others in between; the file exists once its session lists it. A failure leaves nothing.
func (a *Artifacts) Add(ctx context.Context, c partition.Caller, up Upload) (Artifact, error) {
	if err := checkUpload(c, up.ID, len(up.Content)); err != nil {
		return Artifact{}, err
	}
	if err := a.notErasedSince(ctx, c, up.Began); err != nil {
		return Artifact{}, err
	}
	if err := a.sessions.Use(ctx, c, session.Start{}); err != nil {
		return Artifact{}, err
	}
	if err := a.db.CheckSpace(ctx, c, int64(len(up.Content))); err != nil {
		return Artifact{}, a.db.Fault(keeping, err)
	}
	file := up.artifact(a.db.Now())
	err := a.storeContent(ctx, c, file, up)
	if err == nil {
		err = a.list(ctx, c, file, up)
	}
	if err != nil && !errors.Is(err, storage.ErrUnknownOutcome) { // after which the session may have it
		if dropErr := a.drop(context.WithoutCancel(ctx), c, up.ID); dropErr != nil {
			a.db.Log().Error("the backend failed", "doing", "remove a part of a file", "error", dropErr)
		}
	}
	if err != nil {
		return Artifact{}, a.db.Fault(keeping, err)
	}
	return file, nil
}

const keeping = "keep a file"

// list adds a file whose content is stored to its session.
func (a *Artifacts) list(ctx context.Context, c partition.Caller, file Artifact, up Upload) error {
	return a.sessions.ChangeFiles(ctx, c, session.FilesChange{
		Keys: a.erasedKeys(c),
		Update: func(marks []storage.Record, list json.RawMessage) (json.RawMessage, error) {
			if err := notErased(marks, up.Began); err != nil {
				return nil, err
			}
			files, err := withRoom(list, file.Uploaded)
			if err != nil {
				return nil, err
			}
			return encode(append(files, file))
		},
		Writes: []storage.Write{{Record: storage.Record{Key: a.uploadKey(c, up.ID)}, Delete: true}},
	})
}

func checkUpload(c partition.Caller, id string, bytes int) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Session == "" {
		return abi.Faultf(abi.NoSession, "a file belongs to a session").WithHint("start a session first")
	}
	if bytes > MaxBytes {
		return errTooLarge()
	}
	return partition.CheckID("file", id)
}

// CheckAdd returns why Add would refuse a file of so many bytes for the caller's session: the session is not the caller's,
// has ended, or has as many files as it may. A session that does not exist is one that Add starts. It is for work that has
// to be done before the file is there; Add checks again.
func (a *Artifacts) CheckAdd(ctx context.Context, c partition.Caller, bytes int) error {
	if err := checkUpload(c, "file", 0); err != nil {
		return err
	}
	state, err := a.sessions.Usable(ctx, c)
	if err != nil {
		return err
	}
	if _, err := withRoom(state.Files, a.db.Now()); err != nil {
		return a.db.Fault("read a session", err)
	}
	return a.db.Fault("look for room", a.db.CheckSpace(ctx, c, int64(bytes)))
}

// SetActive sets whether tools and prompts see a file's text.
func (a *Artifacts) SetActive(ctx context.Context, c partition.Caller, id string, active bool) (Artifact, error) {
	var changed Artifact
	err := a.sessions.ChangeFiles(ctx, c, session.FilesChange{
		Update: func(_ []storage.Record, list json.RawMessage) (json.RawMessage, error) {
			files, i, err := a.find(list, id)
			if err != nil {
				return nil, err
			}
			files[i].Active = active
			changed = files[i]
			return encode(files)
		},
	})
	return changed, a.db.Fault("change a file", err)
}

// find returns a list of files and the position of a living one.
func (a *Artifacts) find(list json.RawMessage, id string) ([]Artifact, int, error) {
	files, err := decode(list)
	if err != nil {
		return nil, 0, err
	}
	i := index(files, id, a.db.Now())
	if i < 0 {
		return nil, 0, errNone()
	}
	return files, i, nil
}

// Remove removes a file of the caller's session, with its text, and returns its description. The session may have ended:
// its files live on until they expire.
func (a *Artifacts) Remove(ctx context.Context, c partition.Caller, id string) (Artifact, error) {
	if err := partition.CheckID("file", id); err != nil || id == "" {
		return Artifact{}, errNone()
	}
	var removed Artifact
	err := a.sessions.ChangeFiles(ctx, c, session.FilesChange{
		EvenEnded: true,
		Update: func(_ []storage.Record, list json.RawMessage) (json.RawMessage, error) {
			files, i, err := a.find(list, id)
			if err != nil {
				return nil, err
			}
			removed = files[i]
			return encode(slices.Delete(files, i, i+1))
		},
	})
	if err != nil {
		return Artifact{}, a.db.Fault("remove a file", err)
	}
	return removed, a.db.Fault("remove a file", a.drop(ctx, c, id))
}

// List returns the files of the caller's session.
func (a *Artifacts) List(ctx context.Context, c partition.Caller) ([]Artifact, error) {
	list, err := a.sessions.Files(ctx, c)
	if err != nil {
		return nil, err
	}
	files, err := Live(list, a.db.Now())
	return files, a.db.Fault("read a session", err)
}
