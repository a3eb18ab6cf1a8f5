// Package collection implements the kind of stores "collection". A collection contains entries with
// a text or a JSON value. A search finds entries by their words and by the similarity of their
// vectors.
//
// An entry belongs to a namespace, and its id is unique in the namespace. A namespace is a prefix
// of keys, so a search can never return an entry of another namespace or of another user. The
// search index only proposes entries. The operation recall reads each proposed entry from the
// records that are visible to the run, and drops entries that have changed, have expired or were
// removed.
package collection
