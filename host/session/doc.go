// Package session stores the sessions and the workflows of an app. A session or a workflow starts
// with its first use and belongs to at most one user. A session or a workflow ends when End is
// called, or after it has been idle for too long. After the end, requests with the id of the
// session or workflow are rejected for some time.
package session
