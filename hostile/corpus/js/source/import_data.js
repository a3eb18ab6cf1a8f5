// A module that is a text, with code that was not looked at.
// expect: source_invalid
import x from "data:text/javascript,export default (()=>{for(;;);})()";
return x;
