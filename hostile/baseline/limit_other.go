//go:build !linux

package baseline

func limitMemory() error { return nil }
