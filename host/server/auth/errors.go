package auth

import (
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// AuthError is the reason why credentials were rejected. It reveals no details, which would only
// help an attacker. Callers test it with errors.Is(err, auth.Expired); it is also an
// abi.AccessDenied.
type AuthError string

// Authentication errors.
const (
	// NoCredentials: the request has none, or the scheme is not Bearer.
	NoCredentials AuthError = "the request has no credentials"
	// Ambiguous: the request has several.
	Ambiguous AuthError = "the request has several credentials"
	// Invalid: the credentials are malformed, unknown, revoked, or not for this service.
	Invalid AuthError = "the credentials are not valid"
	// Expired: the credentials were valid before.
	Expired AuthError = "the credentials have expired"
)

// Error returns the message.
func (r AuthError) Error() string { return string(r) }

// Unwrap returns the fault, for abi.FaultOf and errors.Is.
func (r AuthError) Unwrap() error { return abi.Faultf(abi.AccessDenied, "%s", string(r)) }

// Status returns the HTTP status of the response.
func (r AuthError) Status() int {
	if r == Ambiguous {
		return http.StatusBadRequest
	}
	return http.StatusUnauthorized
}

// Challenge returns the WWW-Authenticate header of the response (RFC 6750, section 3). It has no
// error parameter if the request had no credentials.
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
