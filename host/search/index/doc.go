// Package index finds the entries of a collection that are similar to a query. The similarity is
// the cosine of the vectors, the similarity of the words (BM25), or a mean of these two values.
//
// The search is exact. The search compares the query with every entry that the filter accepts. The
// filter is applied before the search, so a filter that accepts a tenth of the entries costs about
// a tenth of the time.
//
// A [Set] keeps indexes in memory. A Set reads the entries from a storage backend, and reads the
// changes of the backend before each search. The results are proposals. A caller must read the
// records of the hits in its own transaction, and omit the hits whose records have changed.
//
// # Scores
//
// Each score is a multiple of 0.0001 from 0 to 1.
//
//   - The vector score is the cosine of the entry's vector and the query's vector, or 0 if the cosine
//     is negative or one of the vectors is missing.
//   - The text score is based on the weighted mean of the saturations of the query's words in the
//     text. The weights and saturations are those of BM25. The mean of a text of average length that
//     contains each word once is 1. A mean up to 1 is multiplied by 0.9. Means from 1 to
//     [search.MaxSaturation] become scores from 0.9 to 1, in the same order.
//   - The hybrid score is the weighted mean of both scores. A query determines the weights.
//
// The weights of words depend on all entries of the partition that have not expired: on the number
// of these entries, on how many of them contain the word, and on the average length of their texts.
// The weights of words do not depend on the filter. Hits with equal scores are in the order of
// their keys.
package index
