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
	// MaxBytes is the maximum size of a file. MaxFiles is the maximum number of files that a
	// session can have.
	MaxBytes = 20 << 20
	MaxFiles = 50
	// Retention is the time for which a file and its download URL exist after the upload.
	Retention = 30 * 24 * time.Hour
	// maxTextBytes is the maximum size of the text that is stored for a file. maxTexts is the
	// maximum total size of the texts that tools can read in one session.
	maxTextBytes = 256 << 10
	maxTexts     = 512 << 10
)

// Artifact describes a file. The file was uploaded to a session.
type Artifact struct {
	ID string `json:"fileId"`
	// Type is a short name for the format of the file, such as pdf. MediaType is the media type
	// (RFC 2046) of the file's format.
	Type      string `json:"type"`
	Filename  string `json:"filename"`
	MediaType string `json:"mimetype"`
	Bytes     int64  `json:"size"`
	// SHA256 is the SHA-256 digest of the content, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// If Active is true, tools and prompts can read the text of the file.
	Active   bool      `json:"isActive"`
	Uploaded time.Time `json:"uploadedAt"`
	// Expires is the time at which the file expires.
	Expires time.Time `json:"expiresAt"`
	// HasText is true if text was extracted from the file. Truncated is true if a part of this text
	// is missing.
	HasText   bool `json:"hasText"`
	Truncated bool `json:"textTruncated,omitempty"`
	// TextReason is a code for the reason why the file has no text, such as "encrypted"; see
	// extract.Reason. If the file has text, TextReason is "".
	TextReason string `json:"textReason,omitempty"`
}

// Upload describes a file that is to be stored in a session. ID, Type, Filename and MediaType
// become fields of the Artifact.
type Upload struct {
	ID, Type, Filename, MediaType string

	Content []byte
	// Began is the time at which the upload began. If the user has been erased since this time, the
	// upload fails. If Began is the zero time, the current time is used.
	Began time.Time
	// Text is the text that was extracted from the content. Text can be nil. If Text is nil,
	// TextReason explains why the file has no text.
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

// CutText returns a prefix of a text. The prefix has at most the given number of bytes, and does
// not end in the middle of a character.
func CutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Live decodes the list of a session's files. Live returns only the files that have not expired at
// the given time. If the list is invalid, the error is storage.ErrCorrupt.
func Live(list json.RawMessage, at time.Time) ([]Artifact, error) {
	files, err := decode(list)
	return slices.DeleteFunc(files, func(f Artifact) bool { return !at.Before(f.Expires) }), err
}

// decode decodes the list of a session's files. If the argument is nil, the list is empty.
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

// encode encodes the list of a session's files. If the list is empty, encode returns nil.
func encode(files []Artifact) (json.RawMessage, error) {
	if len(files) == 0 {
		return nil, nil
	}
	return json.Marshal(files)
}

// index returns the index of the file in a list. If no such file exists, or if it has expired,
// the result is -1.
func index(files []Artifact, id string, now time.Time) int {
	return slices.IndexFunc(files, func(f Artifact) bool { return f.ID == id && now.Before(f.Expires) })
}

// checkCount returns those files of a list that have not expired. If the session already has the
// maximum number of files, checkCount returns a fault.
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
