package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// bodies is an attack that calls a tool with large inputs. Each input is JSON that consists of many
// small values.
func bodies(values int) func(*attacker) (func(int) bool, error) {
	return func(a *attacker) (func(int) bool, error) {
		input := []byte(`{"a":[` + strings.Repeat(`{"":0},`, values) + `0]}`)
		u := a.mallory("")
		return func(int) bool {
			if !a.take(len(input)) {
				return false
			}
			a.note(u.run("echo", input))
			return true
		}, nil
	}
}

// tool returns a function that runs a tool once.
func (a *attacker) tool(name string) func(int) bool {
	u := a.mallory("")
	return func(int) bool {
		if !a.take(100) {
			return false
		}
		a.note(u.run(name, nil))
		return true
	}
}

// merges is an attack that merges changes into a large record without reading the record first. For
// each of these merges, the commit has to read the whole record.
func merges(a *attacker) (func(int) bool, error) {
	if got := a.mallory("").run("large", nil); got != "ok" {
		return nil, fmt.Errorf("cannot fill the record: %s", got)
	}
	return a.tool("merge"), nil
}

// flood is an attack that sends more runs than the service can execute.
func flood(a *attacker) (func(int) bool, error) { return a.tool("slow"), nil }

const jsonStream = "application/json, text/event-stream"

// batches is an attack that sends 1,500 calls in each MCP request.
func batches(a *attacker) (func(int) bool, error) {
	u := a.mallory("")
	u.more = http.Header{"Accept": {jsonStream}, "Mcp-Protocol-Version": {"2025-03-26"}}
	id, err := u.initialize()
	if err != nil {
		return nil, err
	}
	u.more.Set("Mcp-Session-Id", id)
	var calls []string
	for i := range 1500 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{}}}`, i+2))
	}
	body := []byte("[" + strings.Join(calls, ",") + "]")
	return func(int) bool {
		if !a.take(len(body)) {
			return false
		}
		status, answer := u.send(http.MethodPost, "/mcp", "application/json", body)
		if status == http.StatusOK {
			a.note(fmt.Sprintf("200 with %d runs", bytes.Count(answer, []byte(`"jsonrpc"`))))
			return true
		}
		a.note(outcomeOf(status, answer))
		return true
	}, nil
}

// initialize starts an MCP session and returns its id.
func (u user) initialize() (string, error) {
	r, err := http.NewRequest(http.MethodPost, u.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
		`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"neighbours","version":"1"}}}`))
	if err != nil {
		return "", err
	}
	r.Header = u.more.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+u.token)
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	id := response.Header.Get("Mcp-Session-Id")
	if id == "" {
		return "", fmt.Errorf("cannot start an MCP session: %s", response.Status)
	}
	status, answer := user{u.url, u.token, withSession(u.more, id)}.send(http.MethodPost, "/mcp", "application/json", []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if status >= 300 {
		return "", fmt.Errorf("cannot start an MCP session: %d %s", status, answer)
	}
	return id, nil
}

func withSession(h http.Header, id string) http.Header {
	h = h.Clone()
	h.Set("Mcp-Session-Id", id)
	return h
}

// quota is an attack that stores 1 MB in each run until the quota is used up. Each run has a new
// session.
func quota(a *attacker) (func(int) bool, error) {
	return func(int) bool {
		if !a.take(100) {
			return false
		}
		a.note(a.mallory(fmt.Sprintf("page-%d", serial.Add(1))).run("fill", nil))
		return true
	}, nil
}

// dropped is the number of stored results in a session of the attack "drop". Together, these
// results fit into the quota of one user.
const dropped = 120

// drop is an attack that ends sessions. Each session has 114 MB of stored results.
func drop(a *attacker) (func(int) bool, error) {
	var users []user
	for i := range 4 {
		u := a.user(attacked, fmt.Sprintf("mallory-%d", i), "kept")
		session := fmt.Sprintf("kept-%d", i)
		u.token = a.issuer.token(attacked, fmt.Sprintf("mallory-%d", i), session)
		if err := u.startSession(session); err != nil {
			return nil, err
		}
		if err := u.keep(i); err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	next := 0
	return func(int) bool {
		if next == len(users) {
			return false
		}
		a.note(outcomeOf(users[next].send(http.MethodDelete, fmt.Sprintf("/api/v1/sessions/kept-%d", next), "", nil)))
		next++
		return true
	}, nil
}

// keep stores results of 0.95 MB each for the attack "drop". Each result has its own idempotency
// key.
func (u user) keep(number int) error {
	errs := make(chan error, dropped)
	var senders sync.WaitGroup
	for i := range 4 {
		senders.Go(func() {
			for n := i; n < dropped; n += 4 {
				once := user{u.url, u.token, http.Header{"Idempotency-Key": {fmt.Sprintf("%d-%d", number, n)}}}
				if got := once.run("answer", nil); got != "ok" {
					errs <- fmt.Errorf("cannot store a result: %s", got)
				}
			}
		})
	}
	senders.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}
