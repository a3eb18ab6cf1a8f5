package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// patience is the maximum time for which the client waits for the response to a request. If a
// request gets no response, its measured time is patience.
const patience = 30 * time.Second

// client reuses its connections, because the time to connect must not be measured.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: patience}

// user is a user of the service. Each request of the user contains the user's token.
type user struct {
	url, token string
	more       http.Header
}

// user returns a user who belongs to the given tenant. If the argument "session" is not "", it is
// the session of the user.
func (s *service) user(tenant, name, session string) user {
	return user{url: s.url, token: s.issuer.token(tenant, name, session)}
}

// send sends a request and returns the status and the body of the response. If no
// response arrives, the result "status" is 0, and the result "answer" contains the kind of the error.
func (u user) send(method, path, mediaType string, body []byte) (status int, answer []byte) {
	r, err := http.NewRequestWithContext(context.Background(), method, u.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	for name, values := range u.more {
		r.Header[name] = values
	}
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	if u.token != "" {
		r.Header.Set("Authorization", "Bearer "+u.token)
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, []byte(kindOf(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, []byte(kindOf(err))
	}
	return response.StatusCode, text
}

// kindOf returns the kind of an error. The kind contains no network addresses, so errors that
// differ only in an address are counted together.
func kindOf(err error) string {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer"
	}
	return "cut off"
}

// outcomeOf returns the outcome of a response. The outcome is "ok", or the status and the code of
// the fault.
func outcomeOf(status int, answer []byte) string {
	var read struct {
		OK    *bool `json:"ok"`
		Code  string
		Error struct{ Code string }
	}
	_ = json.Unmarshal(answer, &read) // a body that is not JSON has no code
	switch {
	case status == 0:
		return string(answer)
	case status >= 300:
		return strings.TrimSpace(fmt.Sprintf("%d %s", status, read.Code))
	case read.OK != nil && !*read.OK:
		return strings.TrimSpace(fmt.Sprintf("%d %s", status, read.Error.Code))
	default:
		return "ok"
	}
}

// run runs a tool. The argument "input" is nil or JSON.
func (u user) run(tool string, input []byte) string {
	body := fmt.Appendf(nil, `{"tool":%q}`, tool)
	if input != nil {
		body = fmt.Appendf(nil, `{"tool":%q,"input":%s}`, tool, input)
	}
	return outcomeOf(u.send(http.MethodPost, "/api/v1/runs", "application/json", body))
}

// startSession starts the session that the user's token names.
func (u user) startSession(session string) error {
	status, answer := u.send(http.MethodPost, "/api/v1/sessions", "application/json", fmt.Appendf(nil, `{"session_id":%q}`, session))
	if status >= 300 || status == 0 {
		return fmt.Errorf("cannot start a session: %d %s", status, answer)
	}
	return nil
}

const boundary = "neighbours"

// form returns a multipart form that contains only a file.
func form(name, mediaType string, content []byte) []byte {
	head := fmt.Appendf(nil, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\nContent-Type: %s\r\n\r\n", boundary, name, mediaType)
	return fmt.Appendf(append(head, content...), "\r\n--%s--\r\n", boundary)
}

// upload uploads a form to a session and returns the link to the file.
func (u user) upload(session string, form []byte) (outcome, link string) {
	status, answer := u.send(http.MethodPost, "/api/v1/sessions/"+session+"/files", "multipart/form-data; boundary="+boundary, form)
	var file struct {
		URL string `json:"download_url"`
	}
	_ = json.Unmarshal(answer, &file) // a response to a rejected upload has no link
	return outcomeOf(status, answer), file.URL
}
