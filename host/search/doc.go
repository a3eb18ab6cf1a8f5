// Package search ranks short texts by the words of a query. Texts and queries are split into words,
// and each word is reduced to its stem, so that "renewals" matches "renewal". Words have weights as
// in BM25: a word that occurs in few texts weighs more than a word that occurs in many.
//
// The package compares words and not meanings: "car" does not match "automobile". The package keeps
// no state between calls, and its results do not depend on the machine.
package search
