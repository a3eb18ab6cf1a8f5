//go:build race

package abl

// The race detector slows down all code. Therefore, an evaluation step can take up to costFactor
// times nominalStep.
const costFactor = 100
