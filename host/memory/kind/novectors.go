package kind

import "errors"

// ErrNoVectors is the error of an Embedder in a dry run that must not call the embedder. Entries then
// stay without vectors, and a search compares only words.
var ErrNoVectors = errors.New("a dry run makes no vectors")
