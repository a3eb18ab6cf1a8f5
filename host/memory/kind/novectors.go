package kind

import "errors"

// An Embedder returns ErrNoVectors in a dry run that must not compute vectors. In such a dry run,
// entries have no vectors, and a search compares only words.
var ErrNoVectors = errors.New("a dry run makes no vectors")
