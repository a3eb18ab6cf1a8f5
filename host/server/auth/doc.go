// Package auth says who may do what: it turns the credentials of an HTTP request into a [Principal], which a surface
// asks before it acts.
//
// An [Authenticator] takes two kinds of credentials. API keys ([Keys]) are made by an operator, live in a file as
// hashes, and have a [Role]. Tokens ([Tokens]) are JWTs of the platform's own issuer, and act as one user. Which role
// has which [Right] stands in one table, [Table].
//
// The request then runs for whom [Principal.Act] says: a principal that is bound to a user or a session can name no
// other. Credentials that are not good end in a [Refusal], which does not say what about them was wrong; keys of an
// issuer that cannot be had end in abi.Unavailable, for that is no fault of who asks.
package auth
