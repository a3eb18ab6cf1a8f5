// Package auth authenticates and authorizes requests. The package resolves the credentials of an
// HTTP request to a [Principal]. A server must check the permissions of the principal before the
// server performs an operation.
//
// An [Authenticator] accepts two kinds of credentials. API keys ([Keys]) are created by an
// operator, are stored in a file as hashes, and have a [Role]. Tokens ([Tokens]) are JWTs that the
// platform's issuer creates. Each token belongs to one user. [Table] lists the permissions of each
// role. [Permission] is the type of a permission.
//
// [Principal.ActAs] determines the user and the session of a request. A principal that is bound to
// a user or a session cannot select any other user or session. Invalid credentials result in an
// [AuthError]. The error does not reveal why the credentials are invalid. If the server cannot
// fetch the keys of the issuer, the error is abi.Unavailable, because the client is not the cause.
package auth
