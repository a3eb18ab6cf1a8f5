// Package session keeps the sessions of an app. A session begins at its first use, belongs to one
// user, and ends by a call or when it has been idle. The id of an ended session is refused for a
// time.
package session
