// Package int8vec computes scalar products of vectors approximately, with exact bounds of the
// error. Each element of a vector is rounded to one byte, so vectors need a quarter of the memory
// and of the memory bandwidth of float32. The memory bandwidth limits the search through many
// vectors.
//
// On amd64 processors with AVX2, the products are computed with SIMD instructions. The results are
// integers, so they are the same on all machines.
package int8vec

import "math"

// Block is the number of elements to which vectors are padded.
const Block = 32

// Padded returns the number of bytes of a rounded vector with n elements.
func Padded(n int) int { return (n + Block - 1) / Block * Block }

// MaxElements is the maximum number of elements of a vector. Products of vectors with more elements
// could overflow.
const MaxElements = 1 << 14

// These are the maximum absolute values of rounded elements.
const (
	maxByte  = math.MaxInt8
	maxShort = 1<<10 - 1 // a sum of MaxElements products of such elements fits in 32 bits
)

// Rounded contains the numbers that relate a rounded vector to the exact vector.
type Rounded struct {
	// Scale is the factor by which the elements of the rounded vector are multiplied.
	Scale float32
	// Length is an upper bound of the length of the exact vector. Error is an upper bound of the
	// length of the difference between the exact vector and the rounded vector.
	Length, Error float32
}

// Round rounds a vector. Round stores the elements in a slice of the length Padded(len(exact)). If
// the vector contains an infinity or NaN, the error is infinite.
func Round(to []int8, exact []float32) Rounded {
	clear(to[len(exact):])
	scale, err := round(exact, maxByte, func(i, element int) { to[i] = int8(element) })
	return Rounded{Scale: float32(scale), Length: roundedUp(length(exact)), Error: roundedUp(err)}
}

// Query is a vector whose products with rounded vectors are computed. Query is immutable and safe
// for concurrent use.
type Query struct {
	elements []int16
	scale    float64
	// length is the length of the exact vector. error is an upper bound of the length of the
	// difference between the exact vector and the rounded vector.
	length, error float64
}

// NewQuery returns the Query for a vector.
func NewQuery(exact []float32) *Query {
	q := &Query{elements: make([]int16, Padded(len(exact))), length: length(exact)}
	q.scale, q.error = round(exact, maxShort, func(i, element int) { q.elements[i] = int16(element) })
	return q
}

// Products computes the product of the query with each rounded vector in the argument "vectors",
// which contains the vectors one after the other.
func (q *Query) Products(products []int32, vectors []int8) {
	n := len(q.elements)
	if n == 0 || len(products) == 0 {
		clear(products)
		return
	}
	multiply(products, vectors[:n*len(products)], q.elements)
}

// Bounds returns the approximate product with a vector, and the maximum error of the approximation.
func (q *Query) Bounds(product int32, r Rounded) (approximate, maxError float64) {
	const slack = 1e-9 // the slack covers the rounding errors of float64
	length, err := float64(r.Length), float64(r.Error)
	return float64(product) * q.scale * float64(r.Scale), q.length*err + q.error*(length+err) + slack*(1+q.length*length)
}

// round scales a vector so that no element exceeds a limit, rounds each element to an integer, and
// calls a function with it. round returns the scale, and the length of the difference between the
// vector and the rounded vector.
func round(exact []float32, limit float64, visit func(i, element int)) (scale, difference float64) {
	largest := 0.0
	for _, x := range exact {
		largest = max(largest, math.Abs(float64(x)))
	}
	scale = float64(float32(largest / limit))
	if !(scale > 0) || math.IsInf(scale, 1) {
		for i := range exact {
			visit(i, 0)
		}
		return 0, length(exact)
	}
	sum := 0.0
	for i, x := range exact {
		element := max(-limit, min(limit, math.RoundToEven(float64(x)/scale)))
		visit(i, int(element))
		d := float64(x) - element*scale
		sum += d * d
	}
	return scale, math.Sqrt(sum)
}

// roundedUp returns a float32 that is not less than x.
func roundedUp(x float64) float32 {
	if math.IsNaN(x) {
		return float32(math.Inf(1))
	}
	return math.Nextafter32(float32(x), float32(math.Inf(1)))
}

// length returns the length of a vector.
func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// multiplyGo is the implementation of multiply in Go.
func multiplyGo(products []int32, vectors []int8, query []int16) {
	for i := range products {
		vector := vectors[i*len(query):][:len(query)]
		var s0, s1, s2, s3 int32
		q := query
		for len(vector) >= 4 && len(q) >= 4 {
			s0 += int32(vector[0]) * int32(q[0])
			s1 += int32(vector[1]) * int32(q[1])
			s2 += int32(vector[2]) * int32(q[2])
			s3 += int32(vector[3]) * int32(q[3])
			vector, q = vector[4:], q[4:]
		}
		products[i] = s0 + s1 + s2 + s3
	}
}
