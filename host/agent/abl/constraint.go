package abl

// Fails reports whether the constraint applies and is violated. If WHEN is false, the constraint
// does not apply. If the result of WHEN is unknown, the constraint applies. A constraint with
// REQUIRE, LIMIT or WARN fails if the condition is false or unknown. A constraint with RESTRICT
// fails only if the condition is true. If BEFORE names a checkpoint that does not exist, the
// constraint never fails. Fails returns the same errors as Expr.Eval.
func (c Constraint) Fails(scope Scope, o Options) (bool, []Warning, error) {
	if c.inert || c.Condition == nil {
		return false, nil, nil
	}
	var warnings []Warning
	if c.When != nil {
		applies, found, err := c.When.Truth(scope, o)
		if err != nil || applies == False {
			return false, found, err
		}
		warnings = found
	}
	truth, found, err := c.Condition.Truth(scope, o)
	warnings = append(warnings, found...)
	if err != nil {
		return false, warnings, err
	}
	return (truth == True) == (c.Rule == RuleRestrict), warnings, nil
}
