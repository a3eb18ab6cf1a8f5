// A built-in sort calls the guest, which does not come back.
// expect: timeout
return [2, 1].sort(() => { for (;;); });
