// Package auth authenticates and authorizes requests. The package resolves the credentials of an
// HTTP request to a [Principal]. A server checks the permissions of the principal before it acts.
//
// An [Authenticator] accepts two kinds of credentials. API keys ([Keys]) are created by an
// operator, are stored in a file as hashes, and have a [Role]. Tokens ([Tokens]) are JWTs of the
// issuer of the platform. Each token acts for one user. [Table] lists the permissions of each role.
// [Permission] is the type of a permission.
//
// [Principal.ActAs] determines the user and the session of a request. A principal that is bound to
// a user or a session cannot select any other user or session. Invalid credentials result in an
// [AuthError], which does not reveal why they are invalid. If the server cannot fetch the keys of
// the issuer, the error is abi.Unavailable, because the client is not the cause.
package auth
