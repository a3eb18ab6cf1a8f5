// Package session keeps the sessions of an app: they begin by their first use, belong to one user, and end by a call or
// because they are idle. The id of an ended session stays refused for a time.
package session
