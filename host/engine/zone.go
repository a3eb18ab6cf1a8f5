package engine

import "time"

// UTC is the time zone that guests have. When JavaScript prints a date, it prints the name of this
// time zone. goja supports only the local time zone. Therefore, a process that runs JavaScript
// guests makes UTC its local time zone.
var UTC = time.FixedZone("Coordinated Universal Time", 0)
