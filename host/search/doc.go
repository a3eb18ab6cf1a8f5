// Package search ranks short texts by the words of a query. Texts and queries are split into words,
// and each word is reduced to its stem, so that "renewals" matches "renewal". Words have the
// weights of the ranking function BM25: a word that occurs in few texts has a higher weight than a
// word that occurs in many texts.
//
// The package compares words and not meanings: "car" does not match "automobile". The package
// stores no state between calls. The results do not depend on the machine.
package search
