// Package auth authenticates and authorizes requests: it turns the credentials of an HTTP request
// into a [Principal], whose permissions a surface checks before it acts.
//
// An [Authenticator] accepts two kinds of credentials. API keys ([Keys]) are created by an
// operator, are stored in a file as hashes, and have a [Role]. Tokens ([Tokens]) are JWTs of the
// platform's own issuer, and act for one user. The permissions of each role are in one table,
// [Table]; see [Permission].
//
// [Principal.ActAs] determines the user and session of a request: a principal that is bound to a
// user or a session cannot name another one. Invalid credentials result in an [AuthError], which
// does not reveal what is wrong with them. If the issuer's keys cannot be fetched, the error is
// abi.Unavailable, because the caller is not at fault.
package auth
