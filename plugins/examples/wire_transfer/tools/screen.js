// Rates a beneficiary by its name.
const scores = { 'Acme Ltd': 10, 'Quick Cash': 70, 'Bearer Bank': 95 };
return { clear: $beneficiary !== 'Volkov Trading', score: scores[$beneficiary] ?? 20 };
