package artifact

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Limits of files.
const (
	// MaxBytes is the maximum size of a file. MaxFiles is the maximum number of files in a session.
	MaxBytes = 20 << 20
	MaxFiles = 50
	// Retention is the lifetime of a file and its download URL after the upload.
	Retention = 30 * 24 * time.Hour
	// maxTextBytes is the maximum size of the stored text of a file. maxTexts is the maximum total
	// size of the texts of a session that tools can read.
	maxTextBytes = 256 << 10
	maxTexts     = 512 << 10
)

// Artifact is the description of a file that was uploaded to a session.
type Artifact struct {
	ID string `json:"fileId"`
	// Type is the name of the file's format, such as pdf. MediaType is the media type (RFC 2046) of
	// the format.
	Type      string `json:"type"`
	Filename  string `json:"filename"`
	MediaType string `json:"mimetype"`
	Bytes     int64  `json:"size"`
	// SHA256 is the SHA-256 of the content in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Active is true if tools and prompts can read the file's text.
	Active   bool      `json:"isActive"`
	Uploaded time.Time `json:"uploadedAt"`
	// Expires is the time at which the file is removed.
	Expires time.Time `json:"expiresAt"`
	// HasText is true if the file has text. Truncated is true if a part of the text is missing.
	HasText   bool `json:"hasText"`
	Truncated bool `json:"textTruncated,omitempty"`
	// TextReason is a code that explains why the file has no text, such as "encrypted"; see
	// extract.Reason. TextReason is "" for a file with text.
	TextReason string `json:"textReason,omitempty"`
}

// Upload is a file to be stored in a session. ID, Type, Filename and MediaType are copied to the
// Artifact.
type Upload struct {
	ID, Type, Filename, MediaType string

	Content []byte
	// Began is the start time of the upload. The upload fails if the user has been erased since
	// then. The zero time means the current time.
	Began time.Time
	// Text is the text that was extracted from the content, or nil. If Text is nil, TextReason is
	// the reason.
	Text       *string
	Truncated  bool
	TextReason string
}

// artifact returns the Artifact for an upload that is stored at the given time.
func (up Upload) artifact(at time.Time) Artifact {
	return Artifact{
		ID: up.ID, Type: up.Type, Filename: up.Filename, MediaType: up.MediaType, SHA256: checksum(up.Content), Bytes: int64(len(up.Content)),
		Active: true, Uploaded: at, Expires: at.Add(Retention), HasText: up.Text != nil,
		Truncated:  up.Truncated || up.Text != nil && len(*up.Text) > maxTextBytes,
		TextReason: up.TextReason,
	}
}

// CutText returns the longest prefix of a text that has at most the given number of bytes and does
// not split a character.
func CutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Live decodes the list of a session's files and returns the files that have not expired at the
// given time. If the list is invalid, the error is storage.ErrCorrupt.
func Live(list json.RawMessage, at time.Time) ([]Artifact, error) {
	files, err := decode(list)
	return slices.DeleteFunc(files, func(f Artifact) bool { return !at.Before(f.Expires) }), err
}

// decode decodes the list of a session's files. A nil list is empty.
func decode(list json.RawMessage) ([]Artifact, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var files []Artifact
	if err := json.Unmarshal(list, &files); err != nil {
		return nil, fmt.Errorf("session record: %w: %w", storage.ErrCorrupt, err)
	}
	return files, nil
}

// encode encodes the list of a session's files. encode returns nil for an empty list.
func encode(files []Artifact) (json.RawMessage, error) {
	if len(files) == 0 {
		return nil, nil
	}
	return json.Marshal(files)
}

// index returns the index of a file that has not expired, or -1.
func index(files []Artifact, id string, now time.Time) int {
	return slices.IndexFunc(files, func(f Artifact) bool { return f.ID == id && now.Before(f.Expires) })
}

// checkCount returns the files of a list that have not expired. checkCount returns a fault if the
// session already has the maximum number of files.
func checkCount(list json.RawMessage, now time.Time) ([]Artifact, error) {
	files, err := Live(list, now)
	if err != nil {
		return nil, err
	}
	if len(files) >= MaxFiles {
		return nil, abi.Faultf(abi.QuotaExceeded, "the session has reached its limit of %d files", MaxFiles).WithHint("start a new session")
	}
	return files, nil
}

func errNotFound() error { return abi.Faultf(abi.NotFound, "the file does not exist") }
