package sleep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/abi"
)

// Decode returns the proposals in an answer. An answer is a list of proposals, an object whose only
// member "proposals" is a list of proposals, or null. The answer null contains no proposals. Every
// other answer is invalid. Decode is strict, because a proposal replaces the whole content of a
// block. If a misspelled member were ignored, the proposal could remove the text of a block. The
// fault for an invalid answer contains no part of the answer.
func Decode(text json.RawMessage) ([]Proposal, error) {
	list := json.RawMessage(bytes.TrimSpace(text))
	if string(list) == "null" {
		return nil, nil
	}
	var err error
	if !bytes.HasPrefix(list, []byte("[")) {
		if list, err = memberOf(list); err != nil {
			return nil, err
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil || items == nil {
		return nil, invalid("`output.proposals` is not a list")
	}
	proposals := make([]Proposal, len(items))
	for i, item := range items {
		if proposals[i], err = decodeProposal(item, fmt.Sprintf("output.proposals[%d]", i)); err != nil {
			return nil, err
		}
	}
	return proposals, nil
}

// memberOf returns the member "proposals" of an answer.
func memberOf(text json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return nil, invalid("the output does not contain proposals")
	}
	list, ok := members["proposals"]
	switch {
	case !ok:
		return nil, invalid("the output has no member `proposals`")
	case len(members) > 1:
		return nil, invalid("the output has an unknown member")
	}
	return list, nil
}

// proposalMembers contains the names of the members of a proposal. All are required.
var proposalMembers = []string{"block", "scope", "content"}

// decodeProposal decodes a proposal. The argument "at" is the location of the proposal.
func decodeProposal(text json.RawMessage, at string) (p Proposal, err error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return p, invalid(at + " is not an object")
	}
	values := []*string{&p.Block, &p.Scope, &p.Content}
	for i, name := range proposalMembers {
		raw, ok := members[name]
		var value *string
		switch {
		case !ok:
			return p, invalid(at + "." + name + " is missing")
		case json.Unmarshal(raw, &value) != nil || value == nil:
			return p, invalid(at + "." + name + " is not a string")
		}
		*values[i] = *value
	}
	for name := range members {
		if !slices.Contains(proposalMembers, name) {
			return p, invalid(at + " has an unknown member")
		}
	}
	return p, nil
}

func invalid(message string) error {
	return abi.Faultf(abi.OutputInvalid, "%s", message).
		WithHint(`return an object such as {proposals: [{block: "core", scope: "agent", content: "- ..."}]}, or nothing if there are no proposals`)
}
