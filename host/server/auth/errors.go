package auth

import (
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// Refusal says why credentials were not taken, in no more detail than a stranger may have: what exactly was wrong would
// help nobody but who guesses. It is an error, so that callers write errors.Is(err, auth.Expired); it is an
// abi.AccessDenied too.
type AuthError string

// The refusals.
const (
	// NoCredentials: there were none, or of a scheme that is not Bearer.
	NoCredentials AuthError = "no credentials were given"
	// Ambiguous: there were several, and which of them count must not be a guess.
	Ambiguous AuthError = "credentials were given more than once"
	// Invalid: they are malformed, unknown, revoked, or not for this service.
	Invalid AuthError = "the credentials are not valid"
	// Expired: they were good once.
	Expired AuthError = "the credentials have expired"
)

// Error says it in words.
func (r AuthError) Error() string { return string(r) }

// Unwrap makes abi.FaultOf and errors.Is see a fault.
func (r AuthError) Unwrap() error { return abi.Faultf(abi.AccessDenied, "%s", string(r)) }

// Status is the HTTP status of the answer.
func (r AuthError) Status() int {
	if r == Ambiguous {
		return http.StatusBadRequest
	}
	return http.StatusUnauthorized
}

// Challenge is the header WWW-Authenticate of the answer, as RFC 6750, section 3, has it: without an error for who just
// did not know that credentials are needed.
func (r AuthError) Challenge() string {
	switch r {
	case NoCredentials:
		return "Bearer"
	case Ambiguous:
		return `Bearer error="invalid_request"`
	case Expired:
		return `Bearer error="invalid_token", error_description="` + string(r) + `"`
	}
	return `Bearer error="invalid_token"`
}
