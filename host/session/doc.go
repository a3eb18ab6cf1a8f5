// Package session stores the sessions and the workflows of an app. A session or a workflow starts
// with its first use and belongs to at most one user. A session or a workflow ends when End is
// called, or after it has been idle for too long. After a session or a workflow has ended, requests
// with its id are rejected for some time.
package session
