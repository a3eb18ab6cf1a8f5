package imports

import (
	"encoding/json"
	"sync"
)

// Changes are the keys of the context that were set. They are in this package so that Use can reset them
// for a new Host, as for a new instance of a plug-in.
var Changes struct {
	sync.Mutex
	Keys map[string]json.RawMessage
}
