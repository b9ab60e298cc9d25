package server

import "time"

// SetBodyTime says how long a body may take, until it is called again with what it returns.
func SetBodyTime(d time.Duration) (before time.Duration) {
	before, bodyTime = bodyTime, d
	return before
}
