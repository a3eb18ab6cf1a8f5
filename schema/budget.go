package schema

// budget is the number of steps that an evaluation may still take.
type budget struct{ left int }

// spend takes steps and reports whether the budget suffices.
func (b *budget) spend(steps int) bool {
	b.left -= steps
	return b.left >= 0
}

// exceeded reports whether the budget did not suffice.
func (b *budget) exceeded() bool { return b.left < 0 }

// matches reports whether an expression matches s. It is false if the budget does not suffice.
func (b *budget) matches(p *pattern, s string) bool { return b.spend(p.cost(s)) && p.matches(s) }

// allows reports whether v is one of the values of an enum or a const. It is false if the budget
// does not suffice.
func (b *budget) allows(c choice, v any) bool {
	if kindOf(v)&c.kinds == 0 {
		return false
	}
	id := identity(v)
	return b.spend(1+len(id)/16) && c.allowed[id]
}

// uniqueSteps is the number of steps for remembering a value, which takes memory.
const uniqueSteps = 8

// unique reports whether no two elements are equal, in time linear in their size. It is false if
// the budget does not suffice.
func (b *budget) unique(elements []any) bool {
	had := make(map[string]bool, len(elements))
	for _, element := range elements {
		id := identity(element)
		if !b.spend(uniqueSteps+len(id)/16) || had[id] {
			return false
		}
		had[id] = true
	}
	return true
}
