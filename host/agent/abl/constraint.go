package abl

// Fails reports whether the constraint applies and its condition fails. A constraint does not apply
// if its WHEN is false. If WHEN is unknown, the constraint applies. REQUIRE, LIMIT and WARN fail if
// the condition is false or unknown. RESTRICT fails only if the condition is true. If no checkpoint
// supports the BEFORE of a constraint, the constraint never fails. Fails returns the same errors as
// Expr.Eval.
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
