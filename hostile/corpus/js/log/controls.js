// Lines that clear the screen, change its title, and hide what came before.
// expect: output 1
console.log("\u001b[2J\u001b]0;title\u0007\u001b[8mhidden\r\b\b\u009b31m\u202etxet");
console.log("one\n[error] two\n{\"ok\":true}");
return 1;
