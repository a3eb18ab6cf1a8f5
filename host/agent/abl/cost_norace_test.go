//go:build !race

package abl

// costFactor is the maximum duration of an evaluation step, as a multiple of nominalStep. The
// factor allows for slow machines.
const costFactor = 4
