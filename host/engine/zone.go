package engine

import "time"

// UTC is the time zone of guests. UTC has the name that JavaScript prints in dates. A process that
// runs JavaScript guests makes UTC its local time zone, because goja supports only the local zone.
var UTC = time.FixedZone("Coordinated Universal Time", 0)
