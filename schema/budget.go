package schema

// budget is the number of steps that an evaluation has left.
type budget struct{ left int }

// spend subtracts steps from the budget. spend returns false if the budget is exceeded.
func (b *budget) spend(steps int) bool {
	b.left -= steps
	return b.left >= 0
}

// exceeded reports whether the evaluation needed more steps than the budget.
func (b *budget) exceeded() bool { return b.left < 0 }

// matches reports whether a regular expression matches s. matches returns false if the budget is
// exceeded.
func (b *budget) matches(p *pattern, s string) bool { return b.spend(p.cost(s)) && p.matches(s) }

// allows reports whether v is a value of an enum or a const. allows returns false if the budget is
// exceeded.
func (b *budget) allows(c choice, v any) bool {
	if kindOf(v)&c.kinds == 0 {
		return false
	}
	id := identity(v)
	return b.spend(1+len(id)/16) && c.allowed[id]
}

// uniqueSteps is the number of steps that each remembered element costs, because remembering an
// element uses memory.
const uniqueSteps = 8

// unique reports whether all elements are different. unique takes time linear in their total size.
// unique returns false if the budget is exceeded.
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
