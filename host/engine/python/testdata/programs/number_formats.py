"""Numbers as texts: f-strings, format specifications, repr of floats, rounding."""

x, n, name = 1234567.891, 255, "Zoë"
floats = [0.1 + 0.2, 1e16, 1e-5, 123456789012345678.0, 5e-324, 1.7976931348623157e308, -0.0, 2.5, 1 / 3, 100.0]
forms = ["{:.3f}", "{:,.2f}", "{:e}", "{:g}", "{:.3g}", "{:#.3g}", "{:+015.2f}", "{:_.1f}", "{:%}", "{:n}"]
return {
    "floats": [repr(f) for f in floats],
    "forms": [form.format(x) for form in forms],
    "integers": [f"{n:{form}}" for form in ("d", "x", "#X", "b", "#o", "08,d", "c", "+d", " d", ">6", "^6d", "*<6")],
    "texts": [
        f"{name!r:>8}|{name!a}|{name:*^9}|{name:.2}|{'{}'}|{{}}",
        f"{n = }, {n*2=:x}",
        "%-5s|%05.1f|%x|%%|%r|%+d" % (name, 2.55, n, "a", 3),
    ],
    "nested": f"{x:{10 + 5}.{1 + 1}f}|{', '.join(f'{i:02}' for i in range(3))}",
    "round": [round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234, -2), round(0.5), round(1e300, 2)],
    "parse": [
        float("1_000.5"),
        float("  1e3 "),
        float("inf") > 1e308,
        int("-0x1f", 16),
        int(" 12 "),
        float.fromhex("0x1.8p1"),
    ],
    "hex": [(0.1).hex(), (1e-310).hex()],
    "ratios": [(0.1).as_integer_ratio(), (2.0).is_integer(), divmod(7.5, -2)],
    "template": "{0[a]} {0[a]!s:>3} {1.imag} {k}".format({"a": 1}, 2j, k=3),
}
