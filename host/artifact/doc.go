// Package artifact keeps the files that are uploaded to sessions: their descriptions in the session, their contents in
// pieces, and the text that was read out of them.
package artifact
