package block

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Expected is the version that a block must have before a change. A change replaces or deletes the
// block. The zero Expected means that the block must not exist. If several fields are set, the
// block must match all of them.
type Expected struct {
	// Updated is the time of the last write that the caller has read.
	Updated time.Time
	// Revision is the revision that the caller has read.
	Revision int64
	// If Exists is true, any version of an existing block is accepted.
	Exists bool
}

// IsZero reports whether the Expected requires that the block does not exist.
func (e Expected) IsZero() bool { return e.Updated.IsZero() && e.Revision == 0 && !e.Exists }

// check returns a conflict if the stored block is not the expected version. If the block does not
// exist, the argument "revision" is 0.
func (e Expected) check(revision int64) error {
	switch {
	case e.IsZero() && revision != 0:
		return conflict("the block already exists")
	case e.IsZero():
		return nil
	case revision == 0:
		return conflict("the block does not exist")
	case e.Revision != 0 && e.Revision != revision, !e.Updated.IsZero() && !e.Updated.Equal(time.UnixMilli(revision)):
		return conflict("the block has changed since it was read")
	}
	return nil
}

// Check returns a conflict if a block is not the expected version. If the block does not exist, the
// argument of Check is nil.
func (e Expected) Check(b *Block) error {
	if b == nil {
		return e.check(0)
	}
	return e.check(b.Revision)
}

func conflict(what string) error {
	return abi.Faultf(abi.Conflict, "%s", what).
		WithHint("read the block again, and pass its `updated_at` as `expected_updated_at`")
}

// ETag converts a revision into an entity tag. The result has the format of the HTTP header ETag.
func ETag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// maxETag is the maximum length of the text of an entity tag.
const maxETag = 64

// ParseETag parses the value of the HTTP header If-Match. The value must be "*" or one entity tag
// from ETag. For every other text, ParseETag returns false. Weak tags never match. Lists of tags
// are not supported.
func ParseETag(text string) (Expected, bool) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return Expected{Exists: true}, true
	}
	if len(text) < 3 || len(text) > maxETag || text[0] != '"' || text[len(text)-1] != '"' {
		return Expected{}, false
	}
	revision, err := strconv.ParseInt(text[1:len(text)-1], 10, 64)
	if err != nil || revision < 1 || ETag(revision) != text {
		return Expected{}, false
	}
	return Expected{Revision: revision}, true
}
