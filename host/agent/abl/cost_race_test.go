//go:build race

package abl

// costFactor is the factor by which a step can take longer than nominalStep. The race detector slows
// down all code.
const costFactor = 100
