// Package artifact keeps the files that are uploaded to sessions: their descriptions in the
// session, their contents in pieces, and their extracted text.
package artifact
