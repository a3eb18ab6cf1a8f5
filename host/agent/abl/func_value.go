package abl

import "strings"

func typeFunctions() []function {
	return []function{
		fn("IS_ARRAY(x)", func(c *invocation) (any, error) {
			_, ok := c.arg(0).([]any)
			return ok, nil
		}),
		fn("IS_NUMBER(x)", func(c *invocation) (any, error) {
			c.ev.spend(conversionCost(c.arg(0)))
			_, ok := numeric(c.arg(0))
			return ok, nil
		}),
		fn("IS_STRING(x)", func(c *invocation) (any, error) { return isString(c.arg(0)), nil }),
		fn("TO_NUMBER(x)", func(c *invocation) (any, error) {
			c.ev.spend(conversionCost(c.arg(0)))
			if n, ok := toNumber(c.arg(0)); ok {
				return finite(n), nil
			}
			return nil, nil
		}),
		fn("TO_STRING(x)", func(c *invocation) (any, error) {
			s, err := c.str(0)
			if err != nil {
				return nil, err
			}
			return c.ev.produce(s)
		}),
	}
}

// choiceFunctions returns two kinds of functions: those that evaluate only some of their arguments,
// and those that depend on the options.
func choiceFunctions() []function {
	choice := func(usage string, lazy func(*evaluator, *call) (any, error)) function {
		f := fn(usage, nil)
		f.lazy = lazy
		return f
	}
	return []function{
		choice("COALESCE(a, ...)", firstWhere(func(v any) bool { return !isUnset(v) })),
		choice("FIRST_NON_EMPTY(a, ...)", firstWhere(func(v any) bool {
			s, isText := v.(string)
			return !isUnset(v) && (!isText || strings.TrimSpace(s) != "")
		})),
		choice("IF(condition, a, b)", func(ev *evaluator, n *call) (any, error) {
			return ev.conditional(&conditional{at: n.at, cond: n.args[0], then: n.args[1], els: n.args[2]})
		}),
		fn("NOW()", func(c *invocation) (any, error) { return formatTime(c.ev.options.Now), c.ev.charge(2) }),
		fn("UNIQUE_ID(length?)", uniqueID),
	}
}

// firstWhere returns the first argument for which the function "good" returns true. If the function
// "good" never returns true, firstWhere returns null.
func firstWhere(good func(any) bool) func(*evaluator, *call) (any, error) {
	return func(ev *evaluator, n *call) (any, error) {
		for _, arg := range n.args {
			if value, err := ev.eval(arg); err != nil || good(value) {
				return value, err
			}
		}
		return nil, nil
	}
}

// uniqueID returns a text of random letters and digits. The length of the text is at least 1 and at
// most 64. Without an argument, the length is 6.
func uniqueID(c *invocation) (any, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if c.ev.options.Random == nil {
		return nil, ErrNoRandom
	}
	id := make([]byte, min(max(c.integer(0, 6), 1), 64))
	for i := range id {
		id[i] = alphabet[c.ev.options.Random.IntN(len(alphabet))]
	}
	return string(id), c.ev.charge(1 + len(id)/16)
}
