package kind

import "errors"

// Some dry runs must not compute vectors. In such a dry run, an Embedder returns ErrNoVectors.
// Entries then have no vectors, and a search compares only words.
var ErrNoVectors = errors.New("a dry run computes no vectors")
