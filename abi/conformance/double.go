package conformance

import (
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
)

// Double is a test double of memory for examples and checks. It has one record, and for each fault
// a store whose calls fail with it.
type Double struct {
	// Operations are the operations of the memory. Those that read return the Content.
	Operations abi.Table
	ids        int
}

// The store and the content of the Double's record.
const (
	Store   = "prefs"
	Content = `{"n":1}`
)

// FaultStore returns the name of the store whose calls fail with that code.
func FaultStore(code abi.Code) string { return "fault_" + string(code) }

// Call returns the reply to a memory call: the Content for a read, and {"success":true} otherwise.
func (d *Double) Call(call abi.Call) (json.RawMessage, *abi.Fault) {
	var store string
	if err := json.Unmarshal(call.Arg(0), &store); err != nil || store == "" {
		return nil, d.issue(call, abi.InvalidArgument, "", "the store is missing")
	}
	for _, code := range abi.Codes() {
		if store == FaultStore(code) {
			return nil, d.issue(call, code, store, "requested by the test")
		}
	}
	if op, ok := d.Operations.Lookup(call.Op); ok && op.Verb == abi.Read {
		return json.RawMessage(Content), nil
	}
	return json.RawMessage(`{"success":true}`), nil
}

func (d *Double) issue(call abi.Call, code abi.Code, store, message string) *abi.Fault {
	d.ids++
	f := abi.Faultf(code, "%s", message)
	f.Op, f.Store, f.ID = call.Op, store, strconv.Itoa(d.ids)
	return f
}
