package kind

import "errors"

// ErrNoVectors is the error of an Embedder in a dry run that must not compute vectors. Entries then
// have no vectors. A hybrid search compares only words, and a search in the mode "vector" fails.
var ErrNoVectors = errors.New("a dry run computes no vectors")
