//go:build !amd64

package int8vec

// multiply computes the product of the query with each vector in the argument "vectors", which
// contains the vectors one after the other. Each vector has the length of the query. This length
// must be a multiple of Block and not 0.
func multiply(products []int32, vectors []int8, query []int16) { multiplyGo(products, vectors, query) }
