package modeltest

import (
	"strings"
	"time"
)

// A Failure describes how a provider of embeddings fails.
type Failure struct {
	Name string
	// Reply is the answer that the provider returns to every request.
	Reply Reply
	// Code is the fault code that the caller gets.
	Code string
	// Requests is the maximum number of requests that a caller sends.
	Requests int
}

// retried is the maximum number of requests after a temporary failure.
const retried = 4

// Failures returns all Failures of a provider. The vectors of the provider must have two
// dimensions. The caller must embed exactly one text.
func Failures() []Failure {
	vector := func(numbers string) Reply {
		return Reply{Body: `{"data":[{"index":0,"embedding":[` + numbers + `]}],"usage":{"prompt_tokens":1}}`}
	}
	return []Failure{
		{"hangs", Reply{Delay: time.Hour}, "timeout", 1},
		{"sends HTML", Reply{Body: "<html><body>Welcome</body></html>"}, "unavailable", 1},
		{"sends HTML with an error", Reply{Status: 502, Body: "<html>bad gateway</html>"}, "unavailable", retried},
		{"limits the rate for a minute", Reply{Status: 429, Header: map[string]string{"Retry-After": "60"}}, "unavailable", 1},
		{"limits the rate", Reply{Status: 429}, "unavailable", retried},
		{"fails", Reply{Status: 500}, "unavailable", retried},
		{"sends an endless answer", Reply{Endless: true, Body: strings.Repeat(" ", 1<<16)}, "too_large", 1},
		{"closes the connection", Reply{Cut: true, Body: `{"data":[`}, "unavailable", 1},
		{"rejects the credentials", Reply{Status: 401}, "unavailable", 1},
		{"rejects the size", Reply{Status: 413}, "too_large", 1},
		{"rejects the request", Reply{Status: 400}, "invalid_argument", 1},
		{"redirects to another host", Reply{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/v1/embeddings"}}, "unavailable", 1},
		{"sends NaN", vector("NaN,1"), "unavailable", 1},
		{"sends a number that is too large", vector("1e99,1"), "unavailable", 1},
		{"sends a vector of zeros", vector("0,0"), "unavailable", 1},
		{"sends a vector of another length", vector("1,0,0"), "unavailable", 1},
		{"sends no vectors", Reply{Body: `{"data":[]}`}, "unavailable", 1},
		{"sends two vectors", Reply{Body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0]}]}`}, "unavailable", 1},
	}
}
