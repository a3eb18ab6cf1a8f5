package imports

import (
	"encoding/json"
	"sync"
)

// Changes contains the context keys that the run has set. It is in this package because Use must
// reset it: a new Host starts like a new instance of a plug-in.
var Changes struct {
	sync.Mutex
	Keys map[string]json.RawMessage
}
