package abl

// Fails reports whether the constraint applies and its condition fails. It applies unless its WHEN is
// false: with an unknown WHEN it applies. REQUIRE, LIMIT and WARN fail unless the condition is true,
// so they fail if it is unknown. RESTRICT fails only if the condition is true. An inert constraint
// never fails. The errors are those of Expr.Eval.
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
