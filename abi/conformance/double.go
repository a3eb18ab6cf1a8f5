package conformance

import (
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
)

// Double is the memory that examples and checks run against: it has one record, and stores that answer with every fault.
type Double struct {
	// Operations are those of the memory: reads are answered with the Content.
	Operations abi.Table
	ids        int
}

// What the record of the Double is called and holds.
const (
	Store   = "prefs"
	Content = `{"n":1}`
)

// FaultStore names the store whose calls end in a fault of that code.
func FaultStore(code abi.Code) string { return "fault_" + string(code) }

// Call answers a memory call: the Content for every read, {"success":true} for every other call.
func (d *Double) Call(call abi.Call) (json.RawMessage, *abi.Fault) {
	var store string
	if err := json.Unmarshal(call.Arg(0), &store); err != nil || store == "" {
		return nil, d.issue(call, abi.InvalidArgument, "", "the store is missing")
	}
	for _, code := range abi.Codes() {
		if store == FaultStore(code) {
			return nil, d.issue(call, code, store, "as was asked")
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
