//go:build !race

package abl

// On a slow machine, an evaluation step can take up to costFactor times nominalStep.
const costFactor = 4
