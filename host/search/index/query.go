package index

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/int8vec"
)

// MaxElements is the maximum number of elements of a vector.
const MaxElements = int8vec.MaxElements

// Entry is an entry of a collection in the form that a search uses.
type Entry struct {
	// Key and Revision are the key and the revision of the entry's record.
	Key      storage.Key
	Revision int64
	// Expires is the time at which the entry expires, or the zero time if the entry does not
	// expire.
	Expires time.Time
	// Text contains the words of the entry.
	Text string
	// Vector is a unit vector, or nil. If the vectors of the entry and of the query have different
	// numbers of elements, the vector score is 0.
	Vector []float32
	// Metadata contains the values that filters compare.
	Metadata map[string]any
}

// expired reports whether the entry has expired at the given time.
func (e *Entry) expired(at time.Time) bool { return !e.Expires.IsZero() && !at.Before(e.Expires) }

// Decode is a function that returns the entry that a record contains. Decode must be safe for
// concurrent use. The Set does not modify the returned entry.
type Decode func(storage.Record) (Entry, error)

// Mode is a way to compare a query with entries.
type Mode string

// The modes. The empty Mode means Hybrid.
const (
	Hybrid Mode = "hybrid" // the weighted mean of the vector score and the text score
	Vector Mode = "vector" // the cosine of the vectors
	Text   Mode = "text"   // BM25
)

// Modes returns the names of all modes, sorted.
func Modes() []Mode { return []Mode{Hybrid, Text, Vector} }

// DefaultVectorShare is the default of Query.VectorShare. DefaultVectorShare is suitable for
// vectors of a model that compares meanings. For vectors of a model that compares words,
// lexical.VectorShare is better.
const DefaultVectorShare = 0.5

// Query is a search in a partition.
type Query struct {
	// Text contains the words to search for.
	Text string
	// Vector is the unit vector of the text. If Vector is nil, all vector scores are 0.
	Vector []float32
	// Mode selects the score. Default: Hybrid.
	Mode Mode
	// VectorShare is the weight of the vector score in the mode Hybrid. VectorShare is at most 1.
	// The weight of the text score is 1 minus VectorShare. Default: DefaultVectorShare.
	VectorShare float64
	// Limit is the maximum number of hits. Limit must be at least 1.
	Limit int
	// Threshold is the minimum score of a hit. An entry with the score 0 is never a hit.
	Threshold float64
	// Filter selects the entries that are compared.
	Filter Filter
	// Language is the language of the texts. Default: search.DefaultLanguage.
	Language string
	// Space identifies the vectors that the function Decode returns. Each Space has a separate
	// index, because the vectors that Decode returns for a record depend on the Space.
	Space string
	// Decoding identifies the function Decode, if several functions return different entries for
	// the same record. Each Decoding has a separate index.
	Decoding string
	// Now is the current time. Entries that have expired at this time are omitted.
	Now time.Time
	// Own contains entries that the caller has written but not committed. The search compares these
	// entries like committed entries.
	Own []Entry
	// Hidden contains the keys of the entries that the caller has replaced or removed. The search
	// ignores hidden entries.
	Hidden []storage.Key
}

// check sets the defaults of the query. check returns the language and the words of the query. In
// the mode Vector, the words are nil.
func (q *Query) check() (*search.Language, *search.Query, error) {
	q.Mode = cmp.Or(q.Mode, Hybrid)
	q.VectorShare = cmp.Or(q.VectorShare, DefaultVectorShare)
	switch {
	case !slices.Contains(Modes(), q.Mode):
		return nil, nil, abi.Faultf(abi.InvalidArgument, "unknown mode %s", quote(string(q.Mode))).WithHint("the valid modes are \"hybrid\", \"text\" and \"vector\"")
	case q.Limit < 1:
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the limit is %d, but must be at least 1", q.Limit)
	case !(q.VectorShare >= 0 && q.VectorShare <= 1):
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the share of the vector score is %v, but must be from 0 to 1", q.VectorShare)
	case !(q.Threshold >= 0 && q.Threshold <= 1):
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the threshold is %v, but must be from 0 to 1", q.Threshold)
	case len(q.Vector) > MaxElements:
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the vector has %d elements; the limit is %d", len(q.Vector), MaxElements)
	}
	language, err := search.FindLanguage(q.Language)
	if err != nil {
		return nil, nil, abi.Faultf(abi.InvalidArgument, "%v", err)
	}
	if q.Mode == Vector {
		return language, nil, nil
	}
	return language, language.Query(q.Text), nil
}

// Hit is an entry that is similar to a query.
type Hit struct {
	// Key and Revision identify the compared version of the entry.
	Key      storage.Key
	Revision int64
	// Score is the score in the mode of the query. Vector and Text are the vector score and the
	// text score. If the mode of the query does not use a score, this score is 0.
	Score, Vector, Text float64
	// Own is the index of the entry in Query.Own, or -1 if the entry is committed.
	Own int
}

// decodeError returns the error for a record that Decode rejects. The error does not contain the
// key, because the key can contain the names of users.
func decodeError(err error) error { return fmt.Errorf("decode an entry of a collection: %w", err) }
