//go:build linux && !amd64 && !arm64

package sandbox

const (
	callArchitecture = 0
	callFstatat      = 0
	callRenameat     = 0
)

var architectureCalls []uint32
