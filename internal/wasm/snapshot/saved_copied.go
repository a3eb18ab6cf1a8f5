//go:build !(linux && (amd64 || arm64))

package snapshot

import "os"

// save writes the bytes of a source to a file.
func (s *source) save(name string) error { return os.WriteFile(name, s.view, 0o600) }

// openSource reads a file that was written by save.
func openSource(name string) (*source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &source{view: text}, nil
}
