//go:build slow && !soak && linux

package e2e

import "time"

// soakTime is how long the soak goes on among the slow suites.
const soakTime = 3 * time.Minute
