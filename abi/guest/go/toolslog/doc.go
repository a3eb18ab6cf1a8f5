// Package toolslog sends the records of log/slog to the log of a run:
//
//	func init() { slog.SetDefault(slog.New(toolslog.Handler())) }
//
// The package is separate because log/slog makes a plug-in 0.5 MB larger.
package toolslog
