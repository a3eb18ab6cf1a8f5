package engine

import "time"

// UTC is the time zone of guests, by the name that JavaScript's dates print. A process whose guests are written in
// JavaScript makes it its local zone: goja knows no other.
var UTC = time.FixedZone("Coordinated Universal Time", 0)
