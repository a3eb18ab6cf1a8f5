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

// Artifacts provides access to the files that were uploaded to an app. The files can belong to any
// tenant. An Artifacts is safe for concurrent use.
type Artifacts struct {
	db       *records.DB
	sessions *session.Sessions
	url      func(tenant string, file Artifact) string
}

// New returns the Artifacts of an app. The argument db contains the records of this app. The
// argument "url" is a function that returns the download URL of a file. The URL is valid until the
// file expires. If files have no URLs, this argument is nil.
func New(db *records.DB, sessions *session.Sessions, url func(tenant string, file Artifact) string) *Artifacts {
	return &Artifacts{db: db, sessions: sessions, url: url}
}

// Add stores a file in the session of the caller. If this session does not exist, Add starts it.
// Add first stores the content of the file. Add uses several commits for this, so that other
// commits do not wait for long. As soon as the list of the session contains the file, the file
// exists. If Add fails, Add removes all records that it has already stored.
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
		return Artifact{}, a.db.Fault(storing, err)
	}
	file := up.artifact(a.db.Now())
	err := a.storeContent(ctx, c, file, up)
	if err == nil {
		err = a.list(ctx, c, file, up)
	}
	if err != nil && !errors.Is(err, storage.ErrUnknownOutcome) { // the list can contain the file
		if dropErr := a.deleteContent(context.WithoutCancel(ctx), c, up.ID); dropErr != nil {
			a.db.Log().Error("the backend failed", "doing", "remove file part", "error", dropErr)
		}
	}
	if err != nil {
		return Artifact{}, a.db.Fault(storing, err)
	}
	return file, nil
}

const storing = "store a file"

// list adds a file to the list of its session. The content of the file is already stored. In the
// same commit, list removes the mark of the upload; see uploadKey.
func (a *Artifacts) list(ctx context.Context, c partition.Caller, file Artifact, up Upload) error {
	return a.sessions.ChangeFiles(ctx, c, session.FilesChange{
		Keys: a.erasedKeys(c),
		Update: func(marks []storage.Record, list json.RawMessage) (json.RawMessage, error) {
			if err := notErased(marks, up.Began); err != nil {
				return nil, err
			}
			files, err := checkCount(list, file.Uploaded)
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
		return abi.Faultf(abi.NoSession, "a file requires a session").WithHint("start a session first")
	}
	if bytes > MaxBytes {
		return errTooLarge()
	}
	return partition.CheckID("file", id)
}

// CheckAdd returns the fault that Add would return for a file of the given size. If Add would
// return no fault, CheckAdd returns nil. There are several reasons for a fault: the caller cannot
// use the session, the session has ended, or a limit is reached. CheckAdd should be called before
// the content is received. Add repeats the checks.
func (a *Artifacts) CheckAdd(ctx context.Context, c partition.Caller, bytes int) error {
	if err := checkUpload(c, "file", 0); err != nil {
		return err
	}
	state, err := a.sessions.Usable(ctx, c)
	if err != nil {
		return err
	}
	if _, err := checkCount(state.Files, a.db.Now()); err != nil {
		return a.db.Fault("read a session", err)
	}
	return a.db.Fault("check the quota", a.db.CheckSpace(ctx, c, int64(bytes)))
}

// SetActive sets whether tools and prompts can read the text of a file.
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

// find decodes a list of files. find returns the list, and the index of the given file in this
// list. This file must not have expired.
func (a *Artifacts) find(list json.RawMessage, id string) ([]Artifact, int, error) {
	files, err := decode(list)
	if err != nil {
		return nil, 0, err
	}
	i := index(files, id, a.db.Now())
	if i < 0 {
		return nil, 0, errNotFound()
	}
	return files, i, nil
}

// Remove removes a file of the caller's session, together with the text of the file. Remove returns
// the description of the file. A file can exist longer than its session. Therefore, Remove can also
// be called after the session has ended.
func (a *Artifacts) Remove(ctx context.Context, c partition.Caller, id string) (Artifact, error) {
	if err := partition.CheckID("file", id); err != nil || id == "" {
		return Artifact{}, errNotFound()
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
	return removed, a.db.Fault("remove a file", a.deleteContent(ctx, c, id))
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
