package intl

import "slices"

// rounding is a rule for the number of digits to show.
type rounding struct {
	minInteger               int
	kind                     string // "fraction", "significant", "morePrecision" or "lessPrecision"
	fraction, significant    bool   // which limits resolvedOptions contains
	minFraction, maxFraction int
	minDigits, maxDigits     int // significant digits
	increment                int
	mode, priority, trailing string
	compact                  bool // true if numbers are rounded as in the compact notation
}

var increments = []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000}

// maxFractionDigits is the maximum number of fraction digits that a guest can request. Node 20 has
// the same limit.
const maxFractionDigits = 20

// readRounding reads the options for the number of digits. ECMA-402 calls this operation
// SetNumberFormatDigitOptions.
func readRounding(o Options, kind, notation string, minDefault, maxDefault int) (r rounding, err error) {
	if r.minInteger, _, err = whole(o, "minimumIntegerDigits", 1, 21, 1); err != nil {
		return r, err
	}
	minFraction, hasMinFraction := o.Number("minimumFractionDigits")
	maxFraction, hasMaxFraction := o.Number("maximumFractionDigits")
	minDigits, hasMinDigits := o.Number("minimumSignificantDigits")
	maxDigits, hasMaxDigits := o.Number("maximumSignificantDigits")
	if r.increment, _, err = whole(o, "roundingIncrement", 1, 5000, 1); err != nil {
		return r, err
	}
	if !slices.Contains(increments, r.increment) {
		return r, rangeErrorf("roundingIncrement value is out of range.")
	}
	if r.mode, err = choice(o, kind, "roundingMode", "halfExpand", "ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"); err != nil {
		return r, err
	}
	if r.priority, err = choice(o, kind, "roundingPriority", "auto", "auto", "morePrecision", "lessPrecision"); err != nil {
		return r, err
	}
	if r.trailing, err = choice(o, kind, "trailingZeroDisplay", "auto", "auto", "stripIfInteger"); err != nil {
		return r, err
	}
	if r.increment != 1 {
		maxDefault = minDefault
	}
	hasDigits, hasFraction := hasMinDigits || hasMaxDigits, hasMinFraction || hasMaxFraction
	r.significant, r.fraction = true, true
	if r.priority == "auto" {
		r.significant = hasDigits
		r.fraction = !hasDigits && (hasFraction || notation != "compact")
	}
	if r.significant {
		r.minDigits, r.maxDigits = 1, 21
		if hasMinDigits {
			if r.minDigits, err = bounded(minDigits, "minimumSignificantDigits", 1, 21); err != nil {
				return r, err
			}
		}
		if hasMaxDigits {
			if r.maxDigits, err = bounded(maxDigits, "maximumSignificantDigits", r.minDigits, 21); err != nil {
				return r, err
			}
		}
	}
	if r.fraction {
		if err := r.readFraction(minFraction, maxFraction, hasMinFraction, hasMaxFraction, minDefault, maxDefault); err != nil {
			return r, err
		}
	}
	return r, r.settle()
}

func (r *rounding) readFraction(low, high float64, hasLow, hasHigh bool, minDefault, maxDefault int) (err error) {
	r.minFraction, r.maxFraction = minDefault, maxDefault
	if hasLow {
		if r.minFraction, err = bounded(low, "minimumFractionDigits", 0, maxFractionDigits); err != nil {
			return err
		}
	}
	if hasHigh {
		if r.maxFraction, err = bounded(high, "maximumFractionDigits", 0, maxFractionDigits); err != nil {
			return err
		}
	}
	switch {
	case hasHigh && !hasLow:
		r.minFraction = min(minDefault, r.maxFraction)
	case hasLow && !hasHigh:
		r.maxFraction = max(maxDefault, r.minFraction)
	case r.minFraction > r.maxFraction:
		return rangeErrorf("maximumFractionDigits value is out of range.")
	}
	return nil
}

// settle selects the kind of rounding. The selection depends on the options.
func (r *rounding) settle() error {
	switch {
	case !r.significant && !r.fraction:
		r.compact, r.significant, r.fraction = true, true, true
		r.kind, r.priority = "morePrecision", "morePrecision"
		r.minFraction, r.maxFraction, r.minDigits, r.maxDigits = 0, 0, 1, 2
	case r.priority != "auto":
		r.kind = r.priority
	case r.significant:
		r.kind = "significant"
	default:
		r.kind = "fraction"
	}
	if r.increment == 1 {
		return nil
	}
	if r.kind != "fraction" {
		return typeErrorf("roundingIncrement value is invalid.")
	}
	if r.minFraction != r.maxFraction {
		return rangeErrorf("roundingIncrement value is out of range.")
	}
	return nil
}

// apply rounds d and returns the minimum number of fraction digits to show.
func (r *rounding) apply(d *Decimal) (minFraction int) {
	fractionPlace := -r.maxFraction
	digitsPlace := func() int { return d.magnitude() - r.maxDigits + 1 }
	digitsShown := func() int { return max(0, -(d.magnitude() - r.minDigits + 1)) }
	switch r.kind {
	case "fraction":
		d.roundTo(fractionPlace, r.mode, r.increment)
		minFraction = r.minFraction
	case "significant":
		d.roundTo(digitsPlace(), r.mode, 1)
		minFraction = digitsShown()
	default:
		byDigits := digitsPlace()
		more := r.kind == "morePrecision"
		place := max(fractionPlace, byDigits)
		if more {
			place = min(fractionPlace, byDigits)
		}
		before := d.magnitude()
		wasZero := d.zero()
		d.roundTo(place, r.mode, 1)
		if !wasZero && !d.zero() && d.magnitude() != before && fractionPlace == byDigits {
			byDigits++
		}
		if (byDigits <= fractionPlace) == more {
			minFraction = digitsShown()
		} else {
			minFraction = r.minFraction
		}
	}
	if r.trailing == "stripIfInteger" && (d.zero() || d.exp >= 0) {
		return 0
	}
	return minFraction
}
