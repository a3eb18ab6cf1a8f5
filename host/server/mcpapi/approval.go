package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/report"
)

// elicitTime is the time that the user has for the decision about one effect. After this time, the
// effect continues to wait for an approval.
const elicitTime = 2 * time.Minute

// maxElicited is the maximum number of effects about which the user is asked during one call.
const maxElicited = 10

// elicit asks the user about the effects of a paused run, one after the other, and returns the last
// Result. elicit asks only if the client supports elicitation and the user may decide.
func (s *session) elicit(ctx context.Context, req *mcp.CallToolRequest, result *report.Result) *report.Result {
	for range maxElicited {
		pending := result.Approval
		if pending == nil || !s.mayDecide(ctx, pending.Token) {
			return result
		}
		action, err := ask(ctx, req.Session, pending)
		if err != nil {
			return result
		}
		var next *report.Result
		switch action {
		case "accept":
			next, _ = s.api.host.Approvals().Approve(ctx, s.current(), pending.Token) // the Result contains the error
		case "decline":
			next, _ = s.api.host.Approvals().Deny(ctx, s.current(), pending.Token, "the user declined")
		}
		if next == nil { // the user made no decision, or another approver did
			return result
		}
		result = next
	}
	return result
}

// mayDecide reports whether the user of the session may decide about an effect.
func (s *session) mayDecide(ctx context.Context, token string) bool {
	caller := s.current()
	if caller.User == "" {
		return false
	}
	found, err := s.api.host.Approvals().Get(ctx, caller, token)
	return err == nil && found.ByUser && found.State == approval.Pending
}

// ask sends a request for a decision to the client, and returns the action of the user. The error
// is not nil if the client does not support requests for a decision.
func ask(ctx context.Context, link *mcp.ServerSession, pending *report.PendingApproval) (action string, err error) {
	ctx, cancel := context.WithTimeout(ctx, elicitTime)
	defer cancel()
	answer, err := link.Elicit(ctx, &mcp.ElicitParams{
		Message:         "Do you approve " + pending.Effect.Describe(pending.Step) + " with these arguments? " + visible(pending.Effect.Arguments),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	})
	if err != nil {
		return "", err
	}
	return answer.Action, nil
}

// visible returns the JSON on one line, with escape sequences for invisible characters. With such a
// character, for example a bidirectional override, a guest could hide or reorder parts of the
// arguments that the user sees.
func visible(arguments json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, arguments) != nil {
		return fmt.Sprintf("%q", arguments)
	}
	var b strings.Builder
	for _, r := range line.String() {
		if r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
