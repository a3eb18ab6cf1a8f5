// Package connections limits the connections of an HTTP server, so that unauthenticated clients cannot use them all.
//
// A stranger is a connection without an admitted request so far: its TLS handshake or its headers are incomplete, its credentials
// were rejected, or it requested only public paths. Strangers may use only a small part of all connections. If that part is full,
// a new connection replaces the stranger that has been inactive for the longest time, from the address with the most strangers.
// Other connections are closed only if they are idle and the table is full.
package connections
