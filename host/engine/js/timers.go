package js

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// minInterval is the minimum delay of an interval timer. Without a minimum delay, an interval of 0
// would be a busy loop.
const minInterval = time.Millisecond

// timer is a scheduled callback.
type timer struct {
	id       int64
	due      time.Time
	interval time.Duration // 0 if the timer fires only once
	call     goja.Callable
	args     []goja.Value
	index    int // the index in the heap; -1 if the timer is not in the heap
}

// timers is a queue of timers, ordered by due time and then by creation time.
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
	t.queue[i].index, t.queue[j].index = i, j
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	added := x.(*timer)
	added.index = len(t.queue)
	t.queue = append(t.queue, added)
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := t.queue[len(t.queue)-1]
	t.queue = t.queue[:len(t.queue)-1]
	last.index = -1
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
	if removed.index >= 0 {
		heap.Remove(t, removed.index)
	}
}

// fire handles the first timer of the queue. fire schedules an interval again and removes any other
// timer.
func (t *timers) fire(now time.Time) *timer {
	first := t.queue[0]
	if first.interval == 0 {
		t.remove(first.id)
		return first
	}
	first.due = now.Add(first.interval)
	heap.Fix(t, first.index)
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
	// setImmediate works like setTimeout, but has no parameter for the delay.
	arguments := []goja.Value{call.Argument(0), goja.Undefined()}
	call.Arguments = append(arguments, call.Arguments[min(1, len(call.Arguments)):]...)
	return l.addTimer(call, 0, 0)
}

func (l *eventLoop) addTimer(call goja.FunctionCall, after, interval time.Duration) goja.Value {
	callback, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		panic(l.vm.NewTypeError("a timer requires a function"))
	}
	id := l.timers.add(&timer{
		due:      time.Now().Add(after),
		interval: interval,
		call:     callback,
		args:     slices.Clone(call.Arguments[min(2, len(call.Arguments)):]), // Arguments is part of goja's stack
	})
	return l.vm.ToValue(id)
}

// clearTimer removes a timer. clearTimer ignores values that are not timer IDs.
func (l *eventLoop) clearTimer(call goja.FunctionCall) goja.Value {
	if id := call.Argument(0); goja.IsNumber(id) {
		l.timers.remove(id.ToInteger())
	}
	return goja.Undefined()
}

// delay converts a number of milliseconds to a delay in the same way as browsers. A value that is
// not a number, is negative or is too large counts as 0.
func delay(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms < 0 || ms > math.MaxInt32 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
