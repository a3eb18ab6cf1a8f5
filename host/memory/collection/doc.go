// Package collection implements collections, which are a kind of store. A collection contains
// entries. Each entry contains a text or a JSON value. A search compares the words and the vectors
// of entries with the query.
//
// An entry belongs to a namespace, and its id is unique in the namespace. Each namespace of each
// user has its own key prefix. Therefore, a search can never return an entry of another namespace
// or of another user. The search index only proposes entries. The operation "recall" then reads
// each proposed entry from the records that are visible to the run. The operation "recall" omits
// entries that have changed, have expired or were removed.
package collection
