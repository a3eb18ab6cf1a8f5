package memory

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// What files are kept.
const (
	// MaxFileBytes and MaxFiles bound a file, and the files of a session.
	MaxFileBytes = 20 << 20
	MaxFiles     = 50
	// FileRetention is how long a file, and the address under which it can be downloaded, live after the upload.
	FileRetention = 30 * 24 * time.Hour
	// maxTextBytes bounds the text that is kept of a file, and maxTexts what tools see of all files of a session.
	maxTextBytes = 256 << 10
	maxTexts     = 512 << 10
)

// Artifact describes a file that was uploaded to a session.
type Artifact struct {
	ID string `json:"fileId"`
	// Type is the name of the format, such as pdf; MediaType what it is by RFC 2046.
	Type      string `json:"type"`
	Filename  string `json:"filename"`
	MediaType string `json:"mimetype"`
	Bytes     int64  `json:"size"`
	// SHA256 is that of the content, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Active says that tools and prompts see the file's text.
	Active   bool      `json:"isActive"`
	Uploaded time.Time `json:"uploadedAt"`
	// Expires is when the file is removed.
	Expires time.Time `json:"expiresAt"`
	// HasText reports that the file has text, and Truncated that some of it is missing.
	HasText   bool `json:"hasText"`
	Truncated bool `json:"textTruncated,omitempty"`
	// TextReason says why the file has no text, such as "encrypted"; see extract.Reason. It is "" for a file with text.
	TextReason string `json:"textReason,omitempty"`
}

// artifactContent is an Artifact as guests read it in sessionMeta.
type artifactContent struct {
	Artifact
	DownloadURL *string `json:"downloadUrl"`
	Text        *string `json:"text,omitempty"`
}

// artifacts are the files of a session with the text of those that are active, as far as that goes.
func (v *View) artifacts(ctx context.Context, files []Artifact) ([]artifactContent, error) {
	list, room := []artifactContent{}, maxTexts
	for _, file := range files {
		if !v.Now().Before(file.Expires) {
			continue
		}
		shown := artifactContent{Artifact: file}
		if v.s.fileURL != nil {
			shown.DownloadURL = optional(v.s.fileURL(v.caller.Tenant, file))
		}
		if file.Active && file.HasText {
			text, err := v.s.fileText(ctx, v.caller, file.ID)
			if err != nil {
				return nil, err
			}
			if len(text) > room {
				text, shown.Truncated = CutText(text, room), true
			}
			room -= len(text)
			shown.Text = &text
		}
		list = append(list, shown)
	}
	return list, nil
}

// CutText returns what of a text fits into a number of bytes, and no part of a character.
func CutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// fileText returns the text of a file; "" where it is gone.
func (s *Service) fileText(ctx context.Context, c Caller, id string) (string, error) {
	records, err := s.backend.Get(ctx, s.fileKey(systemFileText, c, id))
	if err != nil {
		return "", err
	}
	return string(records[0].Content), nil
}

func (s *Service) fileKey(kind string, c Caller, id string) storage.Key {
	return s.system(kind, Caller{Tenant: c.Tenant}, storage.Part{Tag: storage.Item, Value: id})
}

// Upload is a file for a session. ID, Type, Filename and MediaType are of the Artifact that it becomes.
type Upload struct {
	ID, Type, Filename, MediaType, SHA256 string

	Content []byte
	// Began is when the upload did: a user who was erased since gets no file. Zero for now.
	Began time.Time
	// Text is what was read out of the content; nil if there is none, for which TextReason is the code.
	Text       *string
	Truncated  bool
	TextReason string
}

// AddFile keeps a file for the caller's session, which begins where it has not. The content is stored first, in
// several commits, of which others' get in between; the file is there once its session has it, and where that
// fails nothing is left.
func (s *Service) AddFile(ctx context.Context, c Caller, up Upload) (Artifact, error) {
	if err := s.checkUpload(c, up); err != nil {
		return Artifact{}, err
	}
	if err := s.notErasedSince(ctx, c, up.Began); err != nil {
		return Artifact{}, err
	}
	if err := s.useSession(ctx, c, SessionStart{}); err != nil {
		return Artifact{}, err
	}
	if err := s.roomFor(ctx, c, len(up.Content)); err != nil {
		return Artifact{}, s.hostFault("keep a file", err)
	}
	file := s.artifactOf(up)
	err := s.storeContent(ctx, c, file, up)
	if err == nil {
		err = s.listFile(ctx, c, file, up)
	}
	if err != nil && !errors.Is(err, storage.ErrUnknownOutcome) { // after which the session may have it
		if _, dropErr := s.dropFile(context.WithoutCancel(ctx), c, up.ID, func(storage.Head) {}); dropErr != nil {
			s.log.Error("the backend failed", "doing", "remove a part of a file", "error", dropErr)
		}
	}
	if err != nil {
		return Artifact{}, s.hostFault("keep a file", err)
	}
	return file, nil
}

// listFile adds a file whose content is stored to its session.
func (s *Service) listFile(ctx context.Context, c Caller, file Artifact, up Upload) error {
	keys := []storage.Key{s.sessionKey(c)}
	if c.User != "" {
		keys = append(keys, s.erasedKey(c))
	}
	return s.changeFiles(ctx, c, keys, false, func(now []storage.Record, files []Artifact) ([]Artifact, error) {
		if len(now) > 1 && erasedDuring(now[1], up.Began) {
			return nil, errErasedMeanwhile
		}
		files, err := roomForFile(files, file.Uploaded)
		return append(files, file), err
	}, storage.Write{Record: storage.Record{Key: s.uploadKey(c, up.ID)}, Delete: true})
}

// notErasedSince keeps an upload from beginning a session for a user who was erased meanwhile.
func (s *Service) notErasedSince(ctx context.Context, c Caller, began time.Time) error {
	if c.User == "" || began.IsZero() {
		return nil
	}
	records, err := s.backend.Get(ctx, s.erasedKey(c))
	if err != nil {
		return s.hostFault("keep a file", err)
	}
	if erasedDuring(records[0], began) {
		return errErasedMeanwhile
	}
	return nil
}

var errErasedMeanwhile = abi.Faultf(abi.Cancelled, "the user was erased during the upload; nothing was stored")

// erasedDuring reports whether a user's mark is of an erasure since an upload began.
func erasedDuring(mark storage.Record, began time.Time) bool {
	return mark.Exists() && !began.IsZero() && !mark.Updated.Before(began)
}

func (s *Service) checkUpload(c Caller, up Upload) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Session == "" {
		return abi.Faultf(abi.NoSession, "a file belongs to a session").WithHint("start a session first")
	}
	if len(up.Content) > MaxFileBytes {
		return abi.Faultf(abi.TooLarge, "the file has more than %s", bytesize.Format(MaxFileBytes))
	}
	return checkID("file", up.ID)
}

func (s *Service) artifactOf(up Upload) Artifact {
	at := s.now()
	return Artifact{
		ID: up.ID, Type: up.Type, Filename: up.Filename, MediaType: up.MediaType, SHA256: up.SHA256, Bytes: int64(len(up.Content)),
		Active: true, Uploaded: at, Expires: at.Add(FileRetention), HasText: up.Text != nil,
		Truncated:  up.Truncated || up.Text != nil && len(*up.Text) > maxTextBytes,
		TextReason: up.TextReason,
	}
}

// changeFiles lets change decide about the files of the caller's session, which must be the caller's and, unless its end
// does not matter, open; the
// session's key is the first of keys.
func (s *Service) changeFiles(ctx context.Context, c Caller, keys []storage.Key, alsoEnded bool, change func([]storage.Record, []Artifact) ([]Artifact, error), more ...storage.Write) error {
	return s.update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		state, err := decodeSession(now[0])
		if err != nil {
			return nil, err
		}
		if !now[0].Exists() && !c.Confined {
			return nil, abi.Faultf(abi.NotFound, "there is no such session")
		}
		if err := s.checkSession(now[0], state, c, s.now()); err != nil && !(alsoEnded && errors.Is(err, abi.SessionEnded)) {
			return nil, err
		}
		if state.Files, err = change(now, slices.Clone(state.Files)); err != nil {
			return nil, err
		}
		writes, err := s.writeSession(nil, now[0], keys[0], state, now[0].Expires, c) // a tombstone stays one
		return append(writes, more...), err
	})
}

// SetFileActive says whether tools and prompts see a file's text.
func (s *Service) SetFileActive(ctx context.Context, c Caller, id string, active bool) (Artifact, error) {
	var changed Artifact
	err := s.changeFiles(ctx, c, []storage.Key{s.sessionKey(c)}, false, func(_ []storage.Record, files []Artifact) ([]Artifact, error) {
		i := s.indexFile(files, id)
		if i < 0 {
			return nil, noFile()
		}
		files[i].Active = active
		changed = files[i]
		return files, nil
	})
	return changed, s.hostFault("change a file", err)
}

// RemoveFile removes a file of the caller's session, with its text, and returns what it was. The session may have
// ended: its files live on until they expire.
func (s *Service) RemoveFile(ctx context.Context, c Caller, id string) (Artifact, error) {
	if err := checkID("file", id); err != nil || id == "" {
		return Artifact{}, noFile()
	}
	var removed Artifact
	err := s.changeFiles(ctx, c, []storage.Key{s.sessionKey(c)}, true, func(_ []storage.Record, files []Artifact) ([]Artifact, error) {
		i := s.indexFile(files, id)
		if i < 0 {
			return nil, noFile()
		}
		removed = files[i]
		return slices.Delete(files, i, i+1), nil
	})
	if err != nil {
		return Artifact{}, s.hostFault("remove a file", err)
	}
	_, err = s.dropFile(ctx, c, id, func(storage.Head) {})
	return removed, s.hostFault("remove a file", err)
}

// Files returns the files of the caller's session.
func (s *Service) Files(ctx context.Context, c Caller) ([]Artifact, error) {
	if _, err := s.Session(ctx, c); err != nil {
		return nil, err
	}
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil {
		return nil, s.hostFault("read a session", err)
	}
	state, err := decodeSession(records[0])
	if err != nil {
		return nil, s.hostFault("read a session", err)
	}
	now := s.now()
	return slices.DeleteFunc(state.Files, func(f Artifact) bool { return !now.Before(f.Expires) }), nil
}

// indexFile returns the place of a living file, -1 where there is none.
func (s *Service) indexFile(files []Artifact, id string) int {
	now := s.now()
	return slices.IndexFunc(files, func(f Artifact) bool { return f.ID == id && now.Before(f.Expires) })
}

func noFile() error { return abi.Faultf(abi.NotFound, "there is no such file") }
