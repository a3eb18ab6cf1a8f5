package int8vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func vectorsOf(elements int) *rapid.Generator[[]float32] {
	return rapid.SliceOfN(rapid.Float32Range(-1, 1), elements, elements)
}

// TestBounds checks that the exact product is within the bounds.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SampledFrom([]int{0, 1, 3, 31, 32, 33, 100}).Draw(t, "elements")
		query, vector := vectorsOf(elements).Draw(t, "query"), vectorsOf(elements).Draw(t, "vector")
		bytes := make([]int8, Padded(elements))
		r := Round(bytes, vector)
		var product [1]int32
		q := NewQuery(query)
		q.Products(product[:], bytes)
		approximate, maxError := q.Bounds(product[0], r)
		exact := 0.0
		for i := range query {
			exact += float64(query[i]) * float64(vector[i])
		}
		if !(math.Abs(exact-approximate) <= maxError) {
			t.Errorf("product = %v ± %v; want %v", approximate, maxError, exact)
		}
		if limit := 0.01*float64(elements) + 1e-4; maxError > limit {
			t.Errorf("the error is up to %v; want at most %v", maxError, limit)
		}
	})
}

// TestNotFinite checks that a vector that cannot be rounded has an infinite error.
func TestNotFinite(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if r := Round(make([]int8, Block), []float32{1, float32(x)}); !math.IsInf(float64(r.Error), 1) {
			t.Errorf("Round of a vector with %v = %+v; want an infinite error", x, r)
		}
	}
}

// TestMultiply compares the implementations, also with the largest elements and lengths.
func TestMultiply(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{Block, 3 * Block, 512, MaxElements} {
		vectors, query := make([]int8, 5*n), make([]int16, n)
		for i := range vectors {
			vectors[i] = int8(random.IntN(2*maxByte+1) - maxByte)
		}
		for i := range query {
			query[i] = int16(random.IntN(2*maxShort+1) - maxShort)
			vectors[i] = maxByte
			if query[i] < 0 {
				vectors[i] = -maxByte
			}
		}
		want := make([]int32, 5)
		for i := range want {
			for j, x := range query {
				want[i] += int32(vectors[i*n+j]) * int32(x)
			}
		}
		got, gotGo := make([]int32, 5), make([]int32, 5)
		multiply(got, vectors, query)
		multiplyGo(gotGo, vectors, query)
		if !slices.Equal(got, want) || !slices.Equal(gotGo, want) {
			t.Errorf("%d elements: multiply = %v, multiplyGo = %v; want %v", n, got, gotGo, want)
		}
		multiply(got[:0], nil, query)
	}
}

// TestOverflow checks that the largest possible product fits in 32 bits.
func TestOverflow(t *testing.T) {
	if largest := int64(MaxElements) * maxByte * maxShort; largest > math.MaxInt32 {
		t.Errorf("a product can reach %d", largest)
	}
}

func BenchmarkProducts(b *testing.B) {
	const rows, n = 256, 512
	vectors, query := make([]int8, rows*n), make([]float32, n)
	for i := range query {
		query[i] = rand.Float32()
	}
	q, products := NewQuery(query), make([]int32, rows)
	b.SetBytes(rows * n)
	for b.Loop() {
		q.Products(products, vectors)
	}
}
