// Package toolslog connects log/slog to the log of a run:
//
//	func init() { slog.SetDefault(slog.New(toolslog.Handler())) }
//
// It is a package of its own since log/slog makes a plug-in 0.4 MB larger, of which those that do not use it
// have nothing.
package toolslog
