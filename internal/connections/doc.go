// Package connections bounds the connections of an HTTP server, so that those of strangers leave room for others.
//
// A stranger is a connection of which no request was admitted yet: its TLS handshake or its headers are not complete,
// its credentials were refused, or it asked only for what needs none. Strangers have a small part of all connections. A
// newcomer takes the place of the stranger that did nothing for the longest time, of the address that has most. Other
// connections are closed only if they are idle and there is no place left.
package connections
