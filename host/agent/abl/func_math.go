package abl

import "math"

func mathFunctions() []function {
	return []function{
		fn("ADD(a, b)", calculation("+")),
		fn("SUB(a, b)", calculation("-")),
		fn("MUL(a, b)", calculation("*")),
		fn("DIV(a, b)", calculation("/")),
		fn("ROUND(n, decimals?)", round),
		fn("ABS(n)", func(c *invocation) (any, error) {
			n, ok := c.number(0)
			if !ok {
				return nil, nil
			}
			return finite(math.Abs(n)), nil
		}),
		fn("MIN(a, b, ...)", extreme(math.Min)),
		fn("MAX(a, b, ...)", extreme(math.Max)),
	}
}

// calculation returns a function that applies an operator to two numbers. Unlike the operator "+"
// in an expression, the returned function never joins texts.
func calculation(op string) func(*invocation) (any, error) {
	return func(c *invocation) (any, error) {
		a, okA := c.number(0)
		b, okB := c.number(1)
		if !okA || !okB {
			return nil, nil
		}
		return c.ev.arithmetic(c.at, op, a, b)
	}
}

// round rounds a number to a given number of decimals. A number halfway between two results is
// rounded away from zero. The number of decimals is at least -15 and at most 15.
func round(c *invocation) (any, error) {
	n, ok := c.number(0)
	if !ok {
		return nil, nil
	}
	decimals := min(max(c.integer(1, 0), -15), 15)
	factor := math.Pow10(max(decimals, -decimals))
	var result float64
	if decimals >= 0 {
		result = math.Round(n*factor) / factor
	} else {
		result = math.Round(n/factor) * factor
	}
	if math.IsInf(result, 0) || math.IsNaN(result) { // n is too large for this number of decimals
		result = n
	}
	return finite(result), nil
}

func extreme(pick func(a, b float64) float64) func(*invocation) (any, error) {
	return func(c *invocation) (any, error) {
		best, ok := c.number(0)
		for i := 1; i < len(c.args); i++ {
			n, isNumber := c.number(i)
			ok = ok && isNumber
			best = pick(best, n)
		}
		if !ok {
			return nil, nil
		}
		return finite(best), nil
	}
}
