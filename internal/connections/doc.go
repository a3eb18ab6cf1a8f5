// Package connections limits the connections of an HTTP server. The limits prevent unauthenticated
// clients from using all connections.
//
// A stranger is a connection without an admitted request so far. A connection is a stranger for one
// of three reasons: its TLS handshake or its headers are incomplete, its credentials were rejected,
// or it has requested only public paths. Strangers may use only a small part of all connections.
//
// If the part for strangers is full, a new connection replaces a stranger. The [Table] chooses the
// address with the most strangers, and closes the stranger of this address that has been inactive
// for the longest time. Other connections are closed only if they are idle and the table is full.
package connections
