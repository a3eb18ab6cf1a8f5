// Package collection implements the kind "collection": entries with a text or a JSON value, which a
// search finds by their words and by the similarity of their vectors.
//
// An entry belongs to a namespace, and its id is unique in the namespace. A namespace is a prefix of
// keys, so a search can never return an entry of another namespace or of another user. The search
// index only proposes entries. The records of the run decide: recall reads each proposed entry again
// and drops it if it has changed, has expired or was removed.
package collection
