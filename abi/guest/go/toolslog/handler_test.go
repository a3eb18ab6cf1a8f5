package toolslog_test

import (
	"log/slog"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
	"github.com/toolrun/toolrun/abi/guest/go/toolslog"
)

func TestHandler(t *testing.T) {
	tests := []struct {
		name string
		log  func(l *slog.Logger)
		want abi.LogLine
	}{
		{"a message", func(l *slog.Logger) { l.Info("it rains") }, abi.LogLine{Level: abi.LevelInfo, Text: "it rains"}},
		{"attributes", func(l *slog.Logger) { l.Warn("it rains", "mm", 3, "msg", "a b") }, abi.LogLine{Level: abi.LevelWarn, Text: `it rains mm=3 msg="a b"`}},
		{"attributes of the logger", func(l *slog.Logger) { l.With("town", "Bern").Error("it rains", "mm", 3) },
			abi.LogLine{Level: abi.LevelError, Text: "it rains town=Bern mm=3"}},
		{"a group", func(l *slog.Logger) { l.WithGroup("sky").Debug("it rains", "time", 3) }, abi.LogLine{Level: abi.LevelDebug, Text: "it rains sky.time=3"}},
		{"a level between", func(l *slog.Logger) { l.Log(t.Context(), slog.LevelInfo+2, "it rains") }, abi.LogLine{Level: abi.LevelInfo, Text: "it rains"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := toolruntest.New(t)
			logger := slog.New(toolslog.Handler())
			tt.log(logger)
			tt.log(logger)
			if got := h.Logs(); len(got) != 2 || got[0] != tt.want || got[1] != tt.want {
				t.Errorf("Logs = %+v; want %+v twice", got, tt.want)
			}
		})
	}
}
