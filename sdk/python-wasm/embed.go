// Package sdkpython embeds the Python modules of the SDK that run inside the guest. The Python
// engine loads these modules into its interpreters.
package sdkpython

import "embed"

// Guest contains the package that a guest imports. The interpreter starts with the module boot.py
// of this package.
//
//go:embed toolrun/guest/*.py
var Guest embed.FS
