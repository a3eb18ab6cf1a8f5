package mcpapi

import (
	"testing"

	"github.com/toolrun/toolrun/host"
)

// A client can select any number of agents. A client that acts for a user can also select any
// number of memory sessions. The selected agents and memory sessions do not increase the number of
// MCP sessions that the client can open.
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
