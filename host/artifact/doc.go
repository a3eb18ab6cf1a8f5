// Package artifact stores the files that are uploaded to sessions. The description of a file is
// stored in its session. The content is stored in pieces, and the extracted text is stored
// separately.
package artifact
