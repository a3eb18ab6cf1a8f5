package memory

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/collection"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// RecallMocks contains fixed results for searches in collections. The key of the map is the name of
// a collection. In each attempt, the first call of "recall" in a collection returns the first
// result of this collection, the second call returns the second result, and so on.
type RecallMocks map[string][]RecallMock

// RecallMock is the result of one call of "recall". The result is either an error or a list of
// entries. The best entry is the first in the list. In JSON, a RecallMock can be a list of entries.
type RecallMock struct {
	Entries []MockEntry
	Error   *abi.Fault
}

// MockEntry is an entry in a RecallMock. In JSON, a MockEntry can be a string. The string is the
// content of the entry.
type MockEntry struct {
	// ID is the id of the entry. The default is the position of the entry in the result. For
	// example, the first entry has the ID "1".
	ID       string          `json:"id,omitempty"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Score is the score of the entry, from 0 to 1. The default is 1.
	Score *float64 `json:"score,omitempty"`
}

// recallFormat is a hint for malformed mocks.
const recallFormat = `write {"recall": {"COLLECTION": [[{"content": "a text", "metadata": {}, "score": 1}], {"error": {"code": "unavailable"}}]}}`

// ReadRecallMocks decodes mocks from a JSON object that maps the name of each collection to a list
// of results. If the JSON is malformed, the error is the fault invalid_argument.
func ReadRecallMocks(content []byte) (RecallMocks, error) {
	bad := func(format string, args ...any) error {
		return abi.Faultf(abi.InvalidArgument, format, args...).WithHint(recallFormat)
	}
	var lists map[string][]json.RawMessage
	if json.Unmarshal(content, &lists) != nil || lists == nil {
		return nil, bad("the mocks of recall must be a JSON object that maps each collection to a list of results")
	}
	mocks := RecallMocks{}
	for name, results := range lists {
		mocks[name] = make([]RecallMock, len(results))
		for i, result := range results {
			var problem string
			if mocks[name][i], problem = readRecallMock(result); problem != "" {
				return nil, bad("result %d of the mocks for the collection %s %s", i+1, kind.Quote(name), problem)
			}
		}
	}
	return mocks, nil
}

// readRecallMock reads a result. The text "problem" describes a mistake in the result, such as "has
// an unknown error code".
func readRecallMock(text json.RawMessage) (m RecallMock, problem string) {
	if isObject(text) {
		var failed struct {
			Error *abi.Fault `json:"error"`
		}
		if unmarshalStrictly(text, &failed) != nil || failed.Error == nil {
			return m, "is neither a list of entries nor an error"
		}
		if failed.Error.Code.Number() == 0 {
			return m, "has an unknown error code"
		}
		return RecallMock{Error: failed.Error}, ""
	}
	var entries []json.RawMessage
	if json.Unmarshal(text, &entries) != nil || entries == nil {
		return m, "is neither a list of entries nor an error"
	}
	if len(entries) > collection.MaxLimit {
		return m, "has more than " + strconv.Itoa(collection.MaxLimit) + " entries"
	}
	m.Entries = make([]MockEntry, len(entries))
	for i, entry := range entries {
		if m.Entries[i], problem = readMockEntry(entry); problem != "" {
			return m, "has an invalid entry " + strconv.Itoa(i+1) + ": " + problem
		}
	}
	return m, ""
}

// readMockEntry reads an entry. The result "problem" describes a mistake in the entry, and is "" if
// the entry is valid.
func readMockEntry(text json.RawMessage) (e MockEntry, problem string) {
	var content string
	if json.Unmarshal(text, &content) == nil && !kind.IsAbsent(text) {
		return MockEntry{Content: text}, ""
	}
	switch err := unmarshalStrictly(text, &e); {
	case !isObject(text) || err != nil:
		return e, "an entry is a text, or an object with content, metadata, score and id"
	case kind.IsAbsent(e.Content):
		return e, "the content is missing"
	case len(e.Metadata) > 0 && !isObject(e.Metadata):
		return e, "the metadata must be an object"
	case e.Score != nil && !(*e.Score >= 0 && *e.Score <= 1):
		return e, "the score must be a number from 0 to 1"
	}
	return e, ""
}

func isObject(text json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

// unmarshalStrictly decodes JSON and rejects unknown members.
func unmarshalStrictly(text json.RawMessage, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

// MarshalJSON implements json.Marshaler. The produced JSON has the format that ReadRecallMocks
// decodes.
func (m RecallMock) MarshalJSON() ([]byte, error) {
	if m.Error != nil {
		return json.Marshal(map[string]*abi.Fault{"error": m.Error})
	}
	return json.Marshal(append([]MockEntry{}, m.Entries...))
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *RecallMock) UnmarshalJSON(text []byte) (err error) {
	var problem string
	if *m, problem = readRecallMock(text); problem != "" {
		return abi.Faultf(abi.InvalidArgument, "a result %s", problem)
	}
	return nil
}

// reply returns the reply of the call "recall".
func (m RecallMock) reply() (json.RawMessage, error) {
	if m.Error != nil {
		fault := *m.Error
		if fault.Message == "" {
			fault.Message = "the mock returns this error"
		}
		return nil, &fault
	}
	type result struct {
		ID       string          `json:"id"`
		Content  json.RawMessage `json:"content"`
		Metadata json.RawMessage `json:"metadata"`
		Score    float64         `json:"score"`
	}
	results := make([]result, len(m.Entries))
	for i, e := range m.Entries {
		results[i] = result{ID: e.ID, Content: e.Content, Metadata: e.Metadata, Score: 1}
		if e.ID == "" {
			results[i].ID = strconv.Itoa(i + 1)
		}
		if len(e.Metadata) == 0 {
			results[i].Metadata = json.RawMessage("{}")
		}
		if e.Score != nil {
			results[i].Score = *e.Score
		}
	}
	return json.Marshal(struct {
		Results []result `json:"results"`
		Count   int      `json:"count"`
	}{results, len(results)})
}

// mocks replaces the searches of one attempt.
type mocks struct {
	recalls RecallMocks
	// test is true in a test run. In a test run, a collection without mocks has no entries, and no
	// vectors are computed.
	test bool
	// answered maps a collection that has mocks to the number of calls of "recall" so far.
	answered map[string]int
}

// SetMocks sets the mocks of a View. If the argument "test" is true, the run of the View is a test
// run. Only the host may call SetMocks.
func SetMocks(v *View, recalls RecallMocks, test bool) {
	v.mocks = mocks{recalls: recalls, test: test, answered: map[string]int{}}
}

// Mock implements kind.Namespace.
func (p namespacePartition) Mock() (json.RawMessage, error) {
	m, name := p.view.mocks, p.store.Name
	results, ok := m.recalls[name]
	switch {
	case !ok && !m.test:
		return nil, nil
	case !ok:
		return RecallMock{}.reply()
	}
	index := m.answered[name]
	if m.answered[name]++; index >= len(results) {
		return nil, abi.Faultf(abi.Unavailable, "the mocks have only %d results for recall in the collection %s", len(results), kind.Quote(name)).
			WithHint("add a result for each call")
	}
	return results[index].reply()
}
