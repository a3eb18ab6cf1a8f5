package engine

import "time"

// UTC is the time zone of guests. Its name is the one that JavaScript's dates print. A process that
// runs JavaScript guests makes it its local zone, since goja supports only that.
var UTC = time.FixedZone("Coordinated Universal Time", 0)
