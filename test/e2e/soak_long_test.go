//go:build soak && linux

package e2e

import "time"

// soakTime is how long the soak goes on: go test -tags soak -timeout 70m -run Soak
const soakTime = time.Hour
