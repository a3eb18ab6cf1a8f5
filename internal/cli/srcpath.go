package cli

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// codeFolder is the folder that contains the code of a tool, in the form that a user would write.
// Engines report paths relative to this folder, but the command line prints paths that the user can
// open.
type codeFolder string

// codeFolder returns the folder of a declared tool.
func (pr *project) codeFolder(name string) codeFolder {
	tool, _ := pr.app.Tool(name)
	if len(tool.Broken) > 0 { // the faults of the tool have paths relative to the app's folder
		return codeFolder(pr.env.show(pr.files))
	}
	return codeFolder(pr.env.show(filepath.Join(pr.files, filepath.FromSlash(folderOf(tool)))))
}

func folderOf(t app.Tool) string {
	if t.Dir != "" {
		return t.Dir
	}
	return path.Dir(t.Source)
}

// file returns the path to display for a file in the folder.
func (c codeFolder) file(name string) string {
	return filepath.Join(string(c), filepath.FromSlash(name))
}

// framePlace matches the location in a line of a stack trace, for example "at main.js:1:2" or "at f
// (main.js:1:2)".
var framePlace = lazyregexp.New(`(?m)^(\s*at (?:.* \()?)(.+?)(:\d+:\d+\)?)$`)

// fault returns a copy of f. In the copy, all paths are replaced with the paths to display. Paths
// in the hint are also replaced.
func (c codeFolder) fault(f *abi.Fault) *abi.Fault {
	shown := *f
	if f.File != "" {
		shown.File = c.file(f.File)
	}
	shown.Stack = framePlace().ReplaceAllStringFunc(f.Stack, func(line string) string {
		part := framePlace().FindStringSubmatch(line)
		return part[1] + c.file(part[2]) + part[3]
	})
	shown.Hint = c.warning(f.Hint)
	if c != "." {
		shown.Hint = strings.ReplaceAll(shown.Hint, "the tool's folder", string(c))
	}
	return &shown
}

// warningPlace matches the location at the start of a warning about code.
var warningPlace = lazyregexp.New(`^([^\s:]+\.[cm]?[jt]s)(:\d+:\d+: )`)

// warning replaces the path in a warning with the path to display.
func (c codeFolder) warning(text string) string {
	part := warningPlace().FindStringSubmatch(text)
	if part == nil {
		return text
	}
	return c.file(part[1]) + part[2] + strings.TrimPrefix(text, part[0])
}
