package js

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// minInterval keeps an interval of 0 from being a loop without a pause.
const minInterval = time.Millisecond

// timer is a callback that waits for its time.
type timer struct {
	id       int64
	due      time.Time
	interval time.Duration // 0 for once
	call     goja.Callable
	args     []goja.Value
	place    int // in the heap; -1 outside of it
}

// timers are the waiting callbacks, first due first, and of those first made first.
type timers struct {
	queue []*timer
	byID  map[int64]*timer
	made  int64
}

func (t *timers) Len() int { return len(t.queue) }

func (t *timers) Less(i, j int) bool {
	a, b := t.queue[i], t.queue[j]
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.id < b.id
}

func (t *timers) Swap(i, j int) {
	t.queue[i], t.queue[j] = t.queue[j], t.queue[i]
	t.queue[i].place, t.queue[j].place = i, j
}

// Push is called by package heap.
func (t *timers) Push(x any) {
	added := x.(*timer)
	added.place = len(t.queue)
	t.queue = append(t.queue, added)
}

// Pop is called by package heap.
func (t *timers) Pop() any {
	last := t.queue[len(t.queue)-1]
	t.queue = t.queue[:len(t.queue)-1]
	last.place = -1
	return last
}

func (t *timers) add(added *timer) int64 {
	if t.byID == nil {
		t.byID = make(map[int64]*timer)
	}
	t.made++
	added.id = t.made
	t.byID[added.id] = added
	heap.Push(t, added)
	return added.id
}

func (t *timers) remove(id int64) {
	removed := t.byID[id]
	if removed == nil {
		return
	}
	delete(t.byID, id)
	if removed.place >= 0 {
		heap.Remove(t, removed.place)
	}
}

// fire takes the first timer off the queue, or puts it back for its next turn if it is an interval.
func (t *timers) fire(now time.Time) *timer {
	first := t.queue[0]
	if first.interval == 0 {
		t.remove(first.id)
		return first
	}
	first.due = now.Add(first.interval)
	heap.Fix(t, first.place)
	return first
}

func (l *eventLoop) setTimeout(call goja.FunctionCall) goja.Value {
	return l.addTimer(call, delay(call.Argument(1)), 0)
}

func (l *eventLoop) setInterval(call goja.FunctionCall) goja.Value {
	pause := max(delay(call.Argument(1)), minInterval)
	return l.addTimer(call, pause, pause)
}

func (l *eventLoop) setImmediate(call goja.FunctionCall) goja.Value {
	// As setTimeout, without a delay among its arguments.
	arguments := []goja.Value{call.Argument(0), goja.Undefined()}
	call.Arguments = append(arguments, call.Arguments[min(1, len(call.Arguments)):]...)
	return l.addTimer(call, 0, 0)
}

func (l *eventLoop) addTimer(call goja.FunctionCall, after, interval time.Duration) goja.Value {
	callback, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		panic(l.vm.NewTypeError("a timer needs a function to call"))
	}
	id := l.timers.add(&timer{
		due:      time.Now().Add(after),
		interval: interval,
		call:     callback,
		args:     slices.Clone(call.Arguments[min(2, len(call.Arguments)):]), // they lie on the stack of the runtime
	})
	return l.vm.ToValue(id)
}

// clearTimer forgets a timer; of what is no timer's id it takes no notice.
func (l *eventLoop) clearTimer(call goja.FunctionCall) goja.Value {
	if id := call.Argument(0); goja.IsNumber(id) {
		l.timers.remove(id.ToInteger())
	}
	return goja.Undefined()
}

// delay reads milliseconds as the web does: what is no number, negative or too large counts as none.
func delay(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms < 0 || ms > math.MaxInt32 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
