package index

import "github.com/toolrun/toolrun/internal/int8vec"

// chunkRows is the number of rows of a chunk. If vectors have 512 elements, the vectors of a chunk
// use half a megabyte.
const chunkRows = 256

// vectors contains two vectors for each row: the exact vector, and a rounded vector for the first
// comparison. The zero value has no rows. The dimension is 0 until a row has a vector. Rows are
// only appended, so a copy of the struct is a snapshot of its rows.
type vectors struct {
	rows      int
	dimension int
	chunks    []*chunk
}

// chunk contains the vectors of consecutive rows. Rows without a vector contain zeros.
type chunk struct {
	exact   []float32
	bytes   []int8
	rounded [chunkRows]int8vec.Rounded
}

// The method append appends a row. If the length of the vector differs from the dimension, the
// method append omits the vector. The result is the number of allocated bytes.
func (v *vectors) append(vector []float32) int64 {
	before := len(v.chunks)
	if v.dimension == 0 && len(vector) <= MaxElements {
		v.dimension = len(vector)
	}
	row := v.rows
	v.rows++
	for v.dimension > 0 && len(v.chunks)*chunkRows < v.rows {
		v.chunks = append(v.chunks, &chunk{exact: make([]float32, chunkRows*v.dimension), bytes: make([]int8, chunkRows*v.padded())})
	}
	if len(vector) == v.dimension && len(vector) > 0 {
		c, i := v.chunks[row/chunkRows], row%chunkRows
		copy(c.exact[i*v.dimension:], vector)
		c.rounded[i] = int8vec.Round(c.bytes[i*v.padded():][:v.padded()], vector)
	}
	return int64(len(v.chunks)-before) * int64(chunkRows*(4*v.dimension+v.padded()+roundedBytes))
}

// roundedBytes is the size of an int8vec.Rounded.
const roundedBytes = 12

// padded returns the size of a rounded vector.
func (v *vectors) padded() int { return int8vec.Padded(v.dimension) }

// exact returns the vector of a row. The dimension must not be 0.
func (v *vectors) exact(row uint32) []float32 {
	i := int(row%chunkRows) * v.dimension
	return v.chunks[row/chunkRows].exact[i : i+v.dimension]
}

// dot returns the scalar product of two vectors of the same length. The products are exact, so
// processors with and without fused multiply-add compute the same result.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0]) * float64(b[0])
		s1 += float64(a[1]) * float64(b[1])
		s2 += float64(a[2]) * float64(b[2])
		s3 += float64(a[3]) * float64(b[3])
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
