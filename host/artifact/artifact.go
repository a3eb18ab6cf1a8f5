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
	// MaxBytes bounds the size of a file, and MaxFiles the number of files in a session.
	MaxBytes = 20 << 20
	MaxFiles = 50
	// Retention is how long a file and its download URL live after the upload.
	Retention = 30 * 24 * time.Hour
	// maxTextBytes bounds the stored text of a file, and maxTexts the text of all files of a
	// session that tools see.
	maxTextBytes = 256 << 10
	maxTexts     = 512 << 10
)

// Artifact is the description of a file that was uploaded to a session.
type Artifact struct {
	ID string `json:"fileId"`
	// Type is the name of the format, such as pdf; MediaType is its media type (RFC 2046).
	Type      string `json:"type"`
	Filename  string `json:"filename"`
	MediaType string `json:"mimetype"`
	Bytes     int64  `json:"size"`
	// SHA256 is the SHA-256 of the content in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Active is true if tools and prompts see the file's text.
	Active   bool      `json:"isActive"`
	Uploaded time.Time `json:"uploadedAt"`
	// Expires is when the file is removed.
	Expires time.Time `json:"expiresAt"`
	// HasText is true if the file has text, and Truncated if a part of the text is missing.
	HasText   bool `json:"hasText"`
	Truncated bool `json:"textTruncated,omitempty"`
	// TextReason is a code that explains why the file has no text, such as "encrypted"; see
	// extract.Reason. It is "" for a file with text.
	TextReason string `json:"textReason,omitempty"`
}

// Upload is a file for a session. ID, Type, Filename and MediaType are copied to its Artifact.
type Upload struct {
	ID, Type, Filename, MediaType string

	Content []byte
	// Began is when the upload began. The upload fails if the user was erased since then. Zero
	// means now.
	Began time.Time
	// Text is the text extracted from the content, nil for none. TextReason then explains why.
	Text       *string
	Truncated  bool
	TextReason string
}

// artifact returns the description of an upload, with the time at which it is stored.
func (up Upload) artifact(at time.Time) Artifact {
	return Artifact{
		ID: up.ID, Type: up.Type, Filename: up.Filename, MediaType: up.MediaType, SHA256: checksum(up.Content), Bytes: int64(len(up.Content)),
		Active: true, Uploaded: at, Expires: at.Add(Retention), HasText: up.Text != nil,
		Truncated:  up.Truncated || up.Text != nil && len(*up.Text) > maxTextBytes,
		TextReason: up.TextReason,
	}
}

// CutText returns the longest prefix of a text within a number of bytes that does not split a
// character.
func CutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Live returns the files of a session's list that have not expired at a time. Its error is
// storage.ErrCorrupt.
func Live(list json.RawMessage, at time.Time) ([]Artifact, error) {
	files, err := decode(list)
	return slices.DeleteFunc(files, func(f Artifact) bool { return !at.Before(f.Expires) }), err
}

// decode decodes the list of a session's files, nil for none.
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

// encode encodes the list of a session's files, nil for none.
func encode(files []Artifact) (json.RawMessage, error) {
	if len(files) == 0 {
		return nil, nil
	}
	return json.Marshal(files)
}

// index returns the position of a live file, -1 if there is none.
func index(files []Artifact, id string, now time.Time) int {
	return slices.IndexFunc(files, func(f Artifact) bool { return f.ID == id && now.Before(f.Expires) })
}

// checkCount returns the live files of a list, and a fault if the session cannot have another one.
func checkCount(list json.RawMessage, now time.Time) ([]Artifact, error) {
	files, err := Live(list, now)
	if err != nil {
		return nil, err
	}
	if len(files) >= MaxFiles {
		return nil, abi.Faultf(abi.QuotaExceeded, "the session has %d files, which is the limit", MaxFiles).WithHint("start another session")
	}
	return files, nil
}

func errNotFound() error { return abi.Faultf(abi.NotFound, "the file does not exist") }
