package block

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

var _ kind.Union = Kind{}

// CallAll implements kind.Union. CallAll performs recall.
func (Kind) CallAll(ctx context.Context, members []kind.Member, call abi.Call) (json.RawMessage, error) {
	q, ofAgent, err := readQuery(call)
	if err != nil {
		return nil, err
	}
	var texts []Block
	searched := 0
	for _, m := range members {
		st := m.Store.(*store)
		if st.block.Use != declare.BlockRecall {
			continue
		}
		searched++
		q.Language = st.block.Language
		found, err := textsOf(ctx, m.Partition, ofAgent)
		if err != nil {
			return nil, err
		}
		texts = append(texts, found...)
	}
	if searched == 0 {
		return nil, abi.Faultf(abi.NotFound, "the caller cannot read any block that a search includes").
			WithHint("declare `blocks: true` in the app file; a tool also requires a grant, such as `grants: {%s: read}`", declare.Archival)
	}
	matches, err := Search(texts, q)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Results []Match `json:"results"`
	}{matches})
}

// textsOf returns the stored text of the user. If ofAgent is true, textsOf also returns the text of
// the agent.
func textsOf(ctx context.Context, p kind.Partition, ofAgent bool) (texts []Block, err error) {
	partitions := []kind.Partition{p}
	if ofAgent {
		own, err := p.(kind.AgentPartition).ForAgent()
		if err != nil {
			return nil, err
		}
		partitions = append(partitions, own)
	}
	for _, p := range partitions {
		r, err := p.Get(ctx, "")
		if err != nil {
			return nil, err
		}
		if texts, err = appendText(texts, r); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// appendText appends the text of a record to a list. If the record does not exist, the list remains
// unchanged.
func appendText(texts []Block, r storage.Record) ([]Block, error) {
	if !r.Exists() {
		return texts, nil
	}
	b, err := Of(r)
	return append(texts, b), err
}

// readQuery reads the arguments of recall.
func readQuery(call abi.Call) (q Query, ofAgent bool, err error) {
	q.Limit = DefaultLimit
	if json.Unmarshal(call.Arg(0), &q.Text) != nil || strings.TrimSpace(q.Text) == "" {
		return q, false, abi.Faultf(abi.InvalidArgument, "the query must be a text that is not empty")
	}
	err = kind.ReadOptions(call.Arg(1), map[string]kind.Option{
		"limit": kind.CountOption(&q.Limit, MaxLimit), "min_score": scoreOption(&q.MinScore), "agent": kind.BoolOption(&ofAgent),
	})
	return q, ofAgent, err
}

// scoreOption returns an Option whose value is a score.
func scoreOption(to *float64) kind.Option {
	return func(v any) string {
		number, _ := v.(json.Number)
		score, err := strconv.ParseFloat(string(number), 64)
		if err != nil || !isScore(score) {
			return "a number from 0 to 1"
		}
		*to = score
		return ""
	}
}
