package auth

import (
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// AuthError is the error for rejected credentials. AuthError omits details, because details would
// only help an attacker. Use errors.Is to test for a specific error, such as "errors.Is(err,
// auth.Expired)". Each AuthError also matches abi.AccessDenied.
type AuthError string

// Authentication errors.
const (
	// NoCredentials means that the request has no credentials, or that it uses a scheme other than
	// Bearer.
	NoCredentials AuthError = "the request has no credentials"
	// Ambiguous means that the request contains several credentials.
	Ambiguous AuthError = "the request has several credentials"
	// Invalid means that the credentials are malformed, unknown, revoked, or meant for another
	// service.
	Invalid AuthError = "the credentials are not valid"
	// Expired means that the credentials were valid but have expired.
	Expired AuthError = "the credentials have expired"
)

// Error returns the message.
func (r AuthError) Error() string { return string(r) }

// Unwrap returns the fault that corresponds to the error. The functions abi.FaultOf and errors.Is
// call Unwrap.
func (r AuthError) Unwrap() error {
	f := abi.Faultf(abi.AccessDenied, "%s", string(r))
	switch r {
	case NoCredentials:
		return f.WithHint("send an API key or a token in the header `Authorization: Bearer CREDENTIAL`")
	case Ambiguous:
		return f.WithHint("send one credential, in the header Authorization or X-API-Key")
	}
	return f
}

// Status returns the HTTP status of the response.
func (r AuthError) Status() int {
	if r == Ambiguous {
		return http.StatusBadRequest
	}
	return http.StatusUnauthorized
}

// Challenge returns the WWW-Authenticate header of the response (RFC 6750, section 3). If the
// request had no credentials, the header has no parameter "error".
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
