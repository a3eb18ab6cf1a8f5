package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/sashabaranov/go-openai"

	"github.com/toolrun/toolrun/abi"
)

// fault converts the error of a request to a fault. The argument "ctx" is the context of the
// caller. The fault does not contain the text of the error. The text of the error can contain the
// URL, the key or a whole body.
func (p *Provider) fault(ctx context.Context, err error) *abi.Fault {
	if cause, ok := errors.AsType[*abi.Fault](context.Cause(ctx)); ok {
		return cause
	}
	switch {
	case errors.Is(err, errTooLarge):
		return abi.Faultf(abi.TooLarge, "the model's answer exceeds %d bytes", p.options.AnswerBytes)
	case errors.Is(err, errRedirect):
		return abi.Faultf(abi.Unavailable, "the model's provider redirects to another host").
			WithHint("the operator should check `base_url` in models.yaml")
	case ctx.Err() == context.Canceled:
		return abi.Faultf(abi.Cancelled, "the request to the model was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return abi.Faultf(abi.Timeout, "the model did not answer in time")
	}
	if status, message := statusOf(err); status > 0 {
		return p.statusFault(status, message)
	}
	if isProtocol(err) {
		return abi.Faultf(abi.Unavailable, "the model's provider sent a malformed answer")
	}
	return abi.Faultf(abi.Unavailable, "cannot reach the model's provider").
		WithHint("the operator should check that `base_url` in models.yaml is correct, and that the provider is running")
}

func statusOf(err error) (status int, message string) {
	if e, ok := errors.AsType[*openai.APIError](err); ok {
		return e.HTTPStatusCode, e.Message
	}
	if e, ok := errors.AsType[*openai.RequestError](err); ok {
		return e.HTTPStatusCode, ""
	}
	return 0, ""
}

// statusFault converts the HTTP status of a response to a fault. If the provider's message is about
// credentials, the fault omits the message, because it can quote parts of the key.
func (p *Provider) statusFault(status int, message string) *abi.Fault {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired:
		return abi.Faultf(abi.Unavailable, "the model's provider rejected the credentials").
			WithHint("the operator should check the API key")
	case status == http.StatusTooManyRequests:
		return abi.Faultf(abi.Unavailable, "the model's provider has reached its rate limit").WithHint("retry later")
	case status == http.StatusRequestEntityTooLarge:
		return abi.Faultf(abi.TooLarge, "the request is too large for the model's provider")
	case status >= http.StatusInternalServerError:
		return abi.Faultf(abi.Unavailable, "the model's provider failed with status %d", status).WithHint("retry later")
	}
	text := p.sanitize(message)
	if text == "" {
		return abi.Faultf(abi.InvalidArgument, "the model's provider rejected the request with status %d", status)
	}
	return abi.Faultf(abi.InvalidArgument, "the model's provider rejected the request with status %d: %s", status, text)
}

// sanitize returns the start of a provider's message. sanitize removes control characters,
// credentials and the name of the host.
func (p *Provider) sanitize(message string) string {
	password, _ := p.base.User.Password()
	for _, secret := range []string{p.options.Key, password, p.base.User.Username(), p.base.Host, p.base.Hostname()} {
		if secret != "" {
			message = strings.ReplaceAll(message, secret, "***")
		}
	}
	message = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, message)
	const maxRunes = 200
	if runes := []rune(strings.Join(strings.Fields(message), " ")); len(runes) > maxRunes {
		return string(runes[:maxRunes]) + "..."
	}
	return strings.Join(strings.Fields(message), " ")
}
