//go:build linux && (amd64 || arm64)

package snapshot

func prepare() { pagemap() }
