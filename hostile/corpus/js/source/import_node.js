// The modules of a server.
// expect: source_invalid
import { execSync } from "node:child_process";
return execSync("id").toString();
