// Package artifact stores the files that users upload to sessions. The session of a file contains
// the description of the file. The content of a file is stored in pieces. The text that was
// extracted from the content is stored separately.
package artifact
