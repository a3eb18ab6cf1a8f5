package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// maxPending is the maximum number of external operations without an answer. maxPending applies to
// one guest. The host also limits the external operations of a run. The host's limit is lower than
// maxPending.
const maxPending = 1000

// externalExchange contains the parent's state of a run's external operations.
type externalExchange struct {
	pool *Pool
	// begun is the id of the operation that the worker began last. The first operation of a worker
	// has the id 1.
	begun uint64
	// pending maps ids of the host to ids of the worker. The two ids in an entry identify the same
	// operation.
	pending map[uint64]uint64
}

// begin begins an external operation of the guest. If a frame begins an operation, the worker
// expects no reply to this frame.
func (x *exchange) begin(f *fields) error {
	id := f.number()
	call, external, err := x.readCall(f)
	if err != nil {
		return err
	}
	e := &x.external
	if x.host.Begin == nil || !external || id != e.begun+1 || len(e.pending) == maxPending {
		return fmt.Errorf("begin frame of operation %d: %w", id, errProtocol)
	}
	e.begun = id
	if x.halted != nil {
		return nil
	}
	known, err := x.host.Begin(call)
	if err != nil {
		x.halted = err
		x.watchdog.startGrace() // the worker receives the fault when it waits the next time
		return nil
	}
	if e.pending == nil {
		e.pending = map[uint64]uint64{}
	}
	e.pending[known] = id
	return nil
}

// wait waits for the next answer to an external operation and sends the answer. The wait has a time
// limit.
func (x *exchange) wait(f *fields) error {
	left := time.Duration(f.amount())
	if err := f.end(); err != nil {
		return fmt.Errorf("read wait frame: %w", err)
	}
	if x.halted == nil && len(x.external.pending) == 0 {
		return fmt.Errorf("wait frame without an operation: %w", errProtocol)
	}
	id, reply, err := x.await(left)
	answer := x.worker.wire.frame(kindDone).number(id)
	if err == nil {
		return x.worker.wire.send(answer.number(outcomeOutput).data(reply))
	}
	if fault, ok := err.(*abi.Fault); ok {
		return x.replyFault(answer, fault)
	}
	if x.halted == nil {
		x.halted = err
		x.watchdog.startGrace()
	}
	return x.worker.wire.send(answer.number(outcomeHalted))
}

// await waits for the next answer. await returns the answer and the id that the worker uses for the
// operation.
func (x *exchange) await(left time.Duration) (id uint64, reply json.RawMessage, err error) {
	if x.halted != nil {
		return 0, nil, x.halted
	}
	var until time.Time
	if left > 0 {
		until = time.Now().Add(left)
	}
	known := uint64(0)
	err = x.withoutSlot(func() error {
		known, reply, err = x.host.Await(x.ctx, until)
		return err
	})
	id = x.external.pending[known]
	delete(x.external.pending, known)
	return id, reply, err
}

// withoutSlot releases the slot of the worker and calls the function "wait". During this call,
// another worker can use the slot. After the call, withoutSlot waits for a free slot. If the run's
// context ends before a slot is free, withoutSlot returns an error, and the run ends.
func (x *exchange) withoutSlot(wait func() error) error {
	p := x.external.pool
	if p == nil {
		return wait()
	}
	x.watchdog.rest(true)
	<-p.slots
	err := wait()
	x.watchdog.rest(false)
	select {
	case p.slots <- struct{}{}:
		return err
	case <-x.ctx.Done():
	}
	x.worker.slotless = true
	return &engine.NotStartedError{Fault: abi.FaultOf(engine.FaultFromContext(x.ctx))}
}

// begin requests an external operation from the parent.
func (s *server) begin(call abi.Call) (id uint64, err error) {
	f := s.wire.frame(kindBegin).number(s.begun + 1)
	writeCall(f, call)
	if len(f.bytes)-headBytes > maxCallBytes {
		return 0, abi.Faultf(abi.TooLarge, "the arguments of %s exceed %d bytes", call.Op, maxCallBytes)
	}
	s.begun++
	return s.begun, s.wire.send(f)
}

// doneSizes contains the frame size limits while a worker waits for the answer to an external
// operation.
var doneSizes = sizes{kindDone: replySizes[kindReply]}

// await waits until the parent has sent the answer to an external operation.
func (s *server) await(_ context.Context, until time.Time) (id uint64, reply json.RawMessage, err error) {
	left := uint64(0)
	if !until.IsZero() {
		left = uint64(max(time.Until(until), 1))
	}
	if err := s.wire.send(s.wire.frame(kindWait).number(left)); err != nil {
		return 0, nil, err
	}
	_, f, err := s.wire.receive(&doneSizes)
	if err != nil {
		return 0, nil, err
	}
	id = f.number()
	reply, err = readReply(f)
	return id, reply, err
}
