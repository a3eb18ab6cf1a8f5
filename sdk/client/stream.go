package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// StreamRun is like Run, but passes log lines to onLog while the tool runs. The log lines that
// StreamRun passes include the lines of failed attempts. The first attempt has the number 1. onLog
// is called on the calling goroutine, in the order of the lines. onLog must return quickly, because
// the service closes the connection of a client that does not read for some seconds. onLog can be
// nil.
func (c *Client) StreamRun(ctx context.Context, run apitypes.RunRequest, onLog func(attempt int, line abi.LogLine), opts ...RunOption) (*report.Result, error) {
	return c.stream(ctx, newRun(opts, "runs", "stream"), run, onLog)
}

// StreamRunCode is like RunCode, but passes log lines to onLog while the code runs. See StreamRun.
func (c *Client) StreamRunCode(ctx context.Context, run apitypes.CodeRequest, onLog func(attempt int, line abi.LogLine), opts ...RunOption) (*report.Result, error) {
	return c.stream(ctx, newRun(opts, "runs", "code", "stream"), run, onLog)
}

func (c *Client) stream(ctx context.Context, r *request, run any, onLog func(int, abi.LogLine)) (*report.Result, error) {
	r, err := r.withJSON(run)
	if err != nil {
		return nil, err
	}
	r.header.Set("Accept", mediaEvents)
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if got, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); got != mediaEvents {
		return nil, &Error{Fault: foreignFault(response.StatusCode), Status: response.StatusCode}
	}
	result, err := follow(&bounded{response.Body, maxAnswerBytes}, onLog, r.onRunID)
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		return nil, unread(ctx, r, response, err)
	}
	return answered(result, err)
}

const mediaEvents = "text/event-stream"

// follow reads the events of a run up to its Result. The arguments onRunID and onLog can be nil.
func follow(from io.Reader, onLog func(int, abi.LogLine), onRunID func(string)) (*report.Result, error) {
	events := bufio.NewReader(from)
	for {
		name, data, err := nextEvent(events)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the stream ended before the Result arrived
		}
		if err != nil {
			return nil, err
		}
		switch name {
		case "run":
			var run struct {
				ID string `json:"run_id"`
			}
			if err := json.Unmarshal(data, &run); err != nil {
				return nil, err
			}
			if onRunID != nil {
				onRunID(run.ID)
			}
		case "log":
			var line struct {
				Attempt int `json:"attempt"`
				abi.LogLine
			}
			if err := json.Unmarshal(data, &line); err != nil {
				return nil, err
			}
			if onLog != nil {
				onLog(line.Attempt, line.LogLine)
			}
		case "result":
			result := &report.Result{}
			return result, json.Unmarshal(data, result)
		case "problem":
			p := &apitypes.Problem{}
			if err := json.Unmarshal(data, p); err != nil {
				return nil, err
			}
			if p.Code == "" {
				return nil, errNoCode
			}
			e := errorOfProblem(p)
			e.Status = http.StatusOK // the HTTP status of the stream
			return nil, e
		}
	}
}

var errNoCode = errors.New("the problem has no code")

// nextEvent reads one server-sent event (HTML Living Standard, section 9.2.6). nextEvent accepts
// only the line ends LF, which the service sends, and CRLF, because a proxy could convert line
// ends.
func nextEvent(from *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := from.ReadBytes('\n') // a line can have any length, but the size of the stream is limited
		if err != nil {
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && data != nil {
			return name, data, nil
		}
		if len(line) == 0 { // events without data are ignored
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
			if data == nil {
				data = []byte{}
			}
		}
	}
}
