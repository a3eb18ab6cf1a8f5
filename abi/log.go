package abi

import "time"

// Level is the level of a log line.
type Level string

// These are the levels, from the least to the most severe.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// LogLine is a line that a tool logged.
type LogLine struct {
	Level Level     `json:"level"`
	Time  time.Time `json:"time"`
	Text  string    `json:"text"`
}
