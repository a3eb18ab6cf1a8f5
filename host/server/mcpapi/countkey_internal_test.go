package mcpapi

import (
	"testing"

	"github.com/toolrun/toolrun/host"
)

// A client can name any number of agents and, for a user, of memory sessions. Agents and memory
// sessions do not increase the number of MCP sessions that it can open.
func TestCountKey(t *testing.T) {
	for _, tt := range []struct{ owner, want host.Caller }{
		{host.Caller{User: "ann", Session: "s1", Agent: "a"}, host.Caller{User: "ann"}},
		{host.Caller{Session: "s1", Agent: "a"}, host.Caller{Session: "s1"}},
		{host.Caller{Agent: "a"}, host.Caller{}},
	} {
		if got := countKey(tt.owner); got != tt.want {
			t.Errorf("countKey(%+v) = %+v; want %+v", tt.owner, got, tt.want)
		}
	}
}
