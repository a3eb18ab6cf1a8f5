package imports

import (
	"encoding/json"
	"sync"
)

// Changes contains the context keys that the run has set. The function Use must reset the changes,
// because a new Host starts like a new instance of a plug-in. The changes are therefore stored in
// this package.
var Changes struct {
	sync.Mutex
	Keys map[string]json.RawMessage
}
