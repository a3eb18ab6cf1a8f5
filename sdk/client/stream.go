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

// StreamRun runs a tool as Run does and passes log lines to onLog as they occur, including those of
// attempts that are repeated; attempts count from 1. onLog is called by the calling goroutine, in
// the order of the lines, and must return soon: the service closes the connection of a client that
// does not read for some seconds. It may be nil.
func (c *Client) StreamRun(ctx context.Context, run apitypes.RunRequest, onLog func(attempt int, line abi.LogLine), opts ...RunOption) (*report.Result, error) {
	return c.stream(ctx, newRun(opts, "runs", "stream"), run, onLog)
}

// StreamRunCode runs code as RunCode does and passes log lines to onLog, as StreamRun does.
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

// follow reads the events of a run up to its Result. Both functions may be nil.
func follow(from io.Reader, onLog func(int, abi.LogLine), onRunID func(string)) (*report.Result, error) {
	events := bufio.NewReader(from)
	for {
		name, data, err := nextEvent(events)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the stream ended before the Result
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
			e.Status = http.StatusOK // the status of the stream, not that of the problem
			return nil, e
		}
	}
}

var errNoCode = errors.New("the problem has no code")

// nextEvent reads one server-sent event (HTML Living Standard, section 9.2.6). It accepts only the
// line ends LF, which the service writes, and CRLF, to which a proxy may convert them.
func nextEvent(from *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := from.ReadBytes('\n') // unbounded, but from is bounded
		if err != nil {
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && data != nil {
			return name, data, nil
		}
		if len(line) == 0 { // an event without data is ignored
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
