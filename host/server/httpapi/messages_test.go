package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// TestBadMessages checks that the items of an array are validated according to the OpenAPI
// document, and that errors contain the location of the item.
func TestBadMessages(t *testing.T) {
	s := newService(t)
	const good = `{"role":"user","content":"hi"}`
	long := strings.Repeat("x", 65_536)
	for _, test := range []struct{ name, messages, location, message string }{
		{"a number as content", `[{"role":"user","content":3}]`, "body.messages[0].content", "expected string"},
		{"an object as content", `[` + good + `,{"role":"user","content":{"text":"hi"}}]`, "body.messages[1].content", "expected string"},
		{"null as content", `[{"role":"user","content":null}]`, "body.messages[0].content", "expected string"},
		{"no content", `[{"role":"user"}]`, "body.messages[0]", "expected required property content to be present"},
		{"no role", `[{"content":"hi"}]`, "body.messages[0]", "expected required property role to be present"},
		{"an unknown role", `[{"role":"system","content":"hi"}]`, "body.messages[0].role", "expected value to be one of"},
		{"a further member", `[{"role":"user","content":"hi","name":"x"}]`, "body.messages[0].name", "unexpected property"},
		{"a member in another case", `[{"role":"user","Content":"hi"}]`, "body.messages[0].Content", "unexpected property"},
		{"an item that is not an object", `["hi"]`, "body.messages[0]", "expected object"},
		{"an item that is an array", `[[` + good + `]]`, "body.messages[0]", "expected object"},
		{"too long", `[{"role":"user","content":"` + long + `x"}]`, "body.messages[0].content", "expected length <= 65536"},
		{"too many", `[` + strings.Repeat(good+",", 100) + good + `]`, "body.messages", "expected array length <= 100"},
		{"not an array", good, "body.messages", "expected array"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			r := s.refused(422, abi.InvalidArgument, "runtime", "POST", "/api/v1/sessions/s1/messages", `{"user_id":"ann","messages":`+test.messages+`}`)
			var p apitypes.Problem
			r.into(t, &p)
			found := false
			for _, e := range p.Errors {
				found = found || e.Location == test.location && strings.Contains(e.Message, test.message)
			}
			if !found || len(p.Errors) > 1000 {
				t.Errorf("the errors are %+v; want %s: %s", p.Errors, test.location, test.message)
			}
		})
	}
}

// TestMessagesAdded checks the returned number of messages in the transcript. The length of a text
// is its number of characters, even if the JSON text contains escapes.
func TestMessagesAdded(t *testing.T) {
	s := newService(t)
	long := strings.Repeat("ä", 40_000) + strings.Repeat(`\ud83d\ude00`, 10_000) + strings.Repeat(`\n`, 10_000) + strings.Repeat(`\u00e4`, 5_536)
	for body, want := range map[string]int{
		`{"user_id":"ann","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}`: 2,
		`{"user_id":"ann","messages":[{"role":"user","content":""},{"role":"assistant","content":"hello"}]}`:   1,
		`{"messages":[{"role":"user","content":"hi"}]}`:                                                        0,
		`{"user_id":"ann","messages":[{"role":"user","content":"` + long + `"}]}`:                              1,
	} {
		var added apitypes.MessagesAdded
		path := "/api/v1/sessions/s" + strconv.Itoa(len(body)) + "/messages"
		s.want(200, "runtime", "POST", path, body).into(t, &added)
		if added.Messages != want {
			t.Errorf("%.120s adds %d messages; want %d", body, added.Messages, want)
		}
	}
}
