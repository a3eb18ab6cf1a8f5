// A Date whose text is the guest's to write.
// expect: timeout
const d = new Date();
d.toISOString = () => { for (;;); };
return d;
