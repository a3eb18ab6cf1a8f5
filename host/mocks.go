package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/internal/spell"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// recallMember is the name of the member of mocks that contains the results of recall. A model can
// also have this name. The value of a model is a list, but the value of recallMember is an object.
const recallMember = "recall"

// ReadMocks reads mocks. Mocks are a JSON object that contains a list of answers for each model. If
// the value of the member "recall" is an object, this object contains the results of recall for
// each collection. If the mocks are invalid, the error is the fault invalid_argument.
func ReadMocks(content []byte) (model.Mocks, memory.RecallMocks, error) {
	if !strictjson.IsObject(content) || strictjson.Check(content, strictjson.Limits{}) != nil {
		mocks, err := model.ReadMocks(content)
		return mocks, nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return nil, nil, abi.Faultf(abi.InvalidArgument, "the mocks are not valid JSON: %v", err)
	}
	var recalls memory.RecallMocks
	if text := members[recallMember]; strictjson.IsObject(text) {
		var err error
		if recalls, err = memory.ReadRecallMocks(text); err != nil {
			return nil, nil, err
		}
		delete(members, recallMember)
		if content, err = json.Marshal(members); err != nil {
			return nil, nil, err
		}
	}
	mocks, err := model.ReadMocks(content)
	return mocks, recalls, err
}

// WriteMocks returns mocks in the format that ReadMocks reads, or nil if there are none.
func WriteMocks(mocks model.Mocks, recalls memory.RecallMocks) json.RawMessage {
	if mocks == nil && recalls == nil {
		return nil
	}
	members := map[string]any{}
	for name, answers := range mocks {
		members[name] = answers
	}
	if recalls != nil {
		members[recallMember] = recalls
	}
	text, _ := json.Marshal(members) // mocks were read from JSON, so they can be encoded
	return text
}

// mockWarnings returns warnings about mocks of recall for collections that the app does not
// declare. The name of such a collection can be misspelled, and the mocks then have no effect.
func mockWarnings(a *app.App, recalls memory.RecallMocks) []string {
	if a.AutoCollections || len(recalls) == 0 {
		return nil
	}
	var collections []string
	for _, st := range a.Stores {
		if st.Kind == declare.KindCollection {
			collections = append(collections, st.Name)
		}
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(recalls)) {
		if slices.Contains(collections, name) {
			continue
		}
		warning := fmt.Sprintf("the mocks contain results of the collection %q, which the app does not declare", shortName(name))
		if meant := spell.Name(name, collections); meant != "" {
			warning += fmt.Sprintf("; did you mean %q?", meant)
		}
		warnings = append(warnings, warning)
	}
	return warnings[:min(len(warnings), maxUndeclared)]
}
