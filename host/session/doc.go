// Package session stores the sessions of an app. A session starts with its first use and belongs to
// at most one user. It ends when End is called or when it has been idle for too long. After that,
// its id is rejected for some time.
package session
