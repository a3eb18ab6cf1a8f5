package int8vec

import "golang.org/x/sys/cpu"

// hasAVX2 is a variable so that tests can select the implementation.
var hasAVX2 = cpu.X86.HasAVX2

// multiply computes the product of the query with each vector in the argument "vectors", which
// contains the vectors one after the other. Each vector has the length of the query. This length
// must be a multiple of Block and not 0.
func multiply(products []int32, vectors []int8, query []int16) {
	if hasAVX2 {
		multiplyAVX2(products, vectors, query)
		return
	}
	multiplyGo(products, vectors, query)
}

//go:noescape
func multiplyAVX2(products []int32, vectors []int8, query []int16)
