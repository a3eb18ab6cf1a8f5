package mcpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/mcpapi"
)

// party is an MCP client. party has a tenant, a key and a user.
type party struct{ tenant, actor, user string }

// post sends a message as a party. post returns the session, the status and the response.
func (p party) post(t *testing.T, url, session, body string) (id string, status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Tenant": p.tenant, "Actor": p.actor, "User": p.user, "Mcp-Session-Id": session,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Get("Mcp-Session-Id"), resp.StatusCode, string(text)
}

// begin begins a session. begin fails the test on an error.
func (p party) begin(t *testing.T, url string) string {
	t.Helper()
	id, status, answer := p.post(t, url, "", initialize)
	if status != http.StatusOK || id == "" || strings.Contains(answer, `"error"`) {
		t.Fatalf("a session of %+v gets %d %q; want success", p, status, answer)
	}
	return id
}

// crowd returns a pair of servers. Both servers use the same Slots, which has eight slots.
func crowd(t *testing.T) (urls [2]string, runs *results) {
	runs = &results{left: make(chan host.Caller, 99)}
	h, slots := openShop(t, runs), mcpapi.NewSlots(8)
	for i := range urls {
		urls[i] = listen(t, mcpapi.New(mcpapi.Options{Host: h, Slots: slots}))
	}
	return urls, runs
}

// A key with many users occupies all slots. Another tenant, or another key of the same tenant, can
// still begin sessions. The key that occupied all slots cannot evict the sessions of other keys
// later. The result does not depend on which server has the sessions.
func TestSlotsAreFair(t *testing.T) {
	urls, runs := crowd(t)
	greedy := func(i int) party { return party{"big", "greedy", fmt.Sprintf("u%02d", i)} }
	for i := range 8 {
		greedy(i).begin(t, urls[0])
	}
	small, calm := party{"small", "app", "ann"}, party{"big", "calm", "ben"}
	held := map[party]string{small: small.begin(t, urls[1]), calm: calm.begin(t, urls[1])}
	for i := range 12 {
		greedy(8+i).begin(t, urls[i%2])
	}
	for i := range 14 { // the sessions of greedy, in order of last use
		if left := <-runs.left; left.Actor != "greedy" {
			t.Errorf("%+v was evicted as number %d; want one of greedy", left, i)
		}
	}
	for p, id := range held {
		if _, status, answer := p.post(t, urls[1], id, listTools); status != http.StatusOK {
			t.Errorf("the session of %+v gets %d %q; want 200", p, status, answer)
		}
	}
}

// The least recently used session of a principal is evicted. A slot becomes free when its session
// ends.
func TestSlotsGoByUse(t *testing.T) {
	urls, runs := crowd(t)
	var ids []string
	user := func(i int) party { return party{"t", "key", fmt.Sprintf("u%d", i)} }
	for i := range 8 {
		ids = append(ids, user(i).begin(t, urls[0]))
	}
	if _, status, _ := user(0).post(t, urls[0], ids[0], listTools); status != http.StatusOK {
		t.Fatalf("the first session gets %d; want 200", status)
	}
	user(8).begin(t, urls[1])
	if left := <-runs.left; left.User != "u1" {
		t.Errorf("%+v was evicted; want u1, the least recently used one", left)
	}
	if status, answer := end(t, urls[0], user(2), ids[2]); status != http.StatusNoContent {
		t.Fatalf("the end of a session = %d %q; want 204", status, answer)
	}
	if left := <-runs.left; left.User != "u2" {
		t.Errorf("%+v left; want u2", left)
	}
}

// end ends a session of a party.
func end(t *testing.T, url string, p party, session string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Tenant": p.tenant, "Actor": p.actor, "User": p.user, "Mcp-Session-Id": session} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
