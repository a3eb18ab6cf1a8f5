//go:build race

package abl

// An evaluation step can take up to costFactor times nominalStep, because the race detector slows
// down all code.
const costFactor = 100
