package sandbox

// Counts contains the numbers of worker processes of a Pool.
type Counts struct {
	// Busy is the number of workers that run or compile a tool. Idle is the number of workers that
	// wait for another run of the same tenant. An idle worker has already run a guest. Spare is the
	// number of workers that have not yet run a guest.
	Busy, Idle, Spare int
}

// Counts returns the current numbers of worker processes.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{Busy: len(p.busy), Idle: len(p.idle), Spare: len(p.spares)}
}
