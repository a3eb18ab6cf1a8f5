//go:build !race

package abl

// costFactor is the factor by which a step can take longer than nominalStep on a slow machine.
const costFactor = 4
