// An answer that closes the script it may be printed into.
// expect: output
return { text: "</script><!-- \u2028 \u2029 \u0000 \u007f" };
