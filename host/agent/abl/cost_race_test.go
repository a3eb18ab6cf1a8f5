//go:build race

package abl

// costFactor is the maximum duration of an evaluation step, as a multiple of nominalStep. The
// factor is large because the race detector slows down all code.
const costFactor = 100
