package sandbox

// Counts holds the numbers of worker processes of a Pool.
type Counts struct {
	// Busy workers are used by a run or a compilation. Idle workers have run a guest and wait for
	// work of the same tenant. Spare workers have not run a guest.
	Busy, Idle, Spare int
}

// Counts returns the current numbers of worker processes.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{Busy: len(p.busy), Idle: len(p.idle), Spare: len(p.spares)}
}
