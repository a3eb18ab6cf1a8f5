package sandbox

// Counts are the processes of a Pool.
type Counts struct {
	// Busy are in use, by a run or a compilation. Idle have run something and wait for work of the same tenant; Spare
	// have run nothing.
	Busy, Idle, Spare int
}

// Counts returns how many processes the pool has at the moment.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{Busy: len(p.busy), Idle: len(p.idle), Spare: len(p.spares)}
}
