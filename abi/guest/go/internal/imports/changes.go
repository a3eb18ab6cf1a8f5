package imports

import (
	"encoding/json"
	"sync"
)

// Changes are the keys of the context that were set so far. They are here so that a new Host begins with none, as
// a new instance of a plug-in does.
var Changes struct {
	sync.Mutex
	Keys map[string]json.RawMessage
}
