// Package sdkpython embeds the Python modules of the SDK that run inside the guest. The Python engine
// loads them into its interpreters.
package sdkpython

import "embed"

// Guest contains the package that a guest imports. The interpreter starts with its boot.py.
//
//go:embed toolrun/guest/*.py
var Guest embed.FS
