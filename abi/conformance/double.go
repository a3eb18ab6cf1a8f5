package conformance

import (
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
)

// Double is a test double of the host's memory. Double has a store with one record. For each fault
// code, the Double also has a store whose calls fail with that code.
type Double struct {
	// Operations is the table of the operations that the Double supports.
	Operations abi.Table
	ids        int
}

// Store is the name of the store with a record. Content is the content of the record in Store.
const (
	Store   = "prefs"
	Content = `{"n":1}`
)

// FaultStore returns the name of the store whose calls fail with the code.
func FaultStore(code abi.Code) string { return "fault_" + string(code) }

// Call returns the reply to a memory call. A read returns Content. If the verb of a call is not
// read, the reply is {"success":true}.
func (d *Double) Call(call abi.Call) (json.RawMessage, *abi.Fault) {
	op, known := d.Operations.Lookup(call.Op)
	if known && (len(op.Params) == 0 || op.Params[0].Kind != abi.StoreName || !op.Params[0].Required && len(call.Arg(0)) == 0) {
		return replyTo(op.Verb), nil
	}
	var store string
	if err := json.Unmarshal(call.Arg(0), &store); err != nil || store == "" {
		return nil, d.issue(call, abi.InvalidArgument, "", "the store is missing")
	}
	for _, code := range abi.Codes() {
		if store == FaultStore(code) {
			return nil, d.issue(call, code, store, "requested by the test")
		}
	}
	return replyTo(op.Verb), nil
}

// replyTo returns the reply to a call with the given verb.
func replyTo(verb abi.Verb) json.RawMessage {
	if verb == abi.Read {
		return json.RawMessage(Content)
	}
	return json.RawMessage(`{"success":true}`)
}

func (d *Double) issue(call abi.Call, code abi.Code, store, message string) *abi.Fault {
	d.ids++
	f := abi.Faultf(code, "%s", message)
	f.Op, f.Store, f.ID = call.Op, store, strconv.Itoa(d.ids)
	return f
}
