package httpclient

import "math"

const unlimited = math.MaxUint64

// Descriptors that are left for everything but connections to servers: the log, the
// pipes of tools, the files that a result is written to.
const (
	keptDescriptors = 48
	fewConnections  = 4
	manyConnections = 4096
)

// connectionsFor is how many connections to one server a process keeps that can have
// so many descriptors. A call beyond that waits for one, instead of failing and taking
// the files of the run with it. There may be another server.
func connectionsFor(descriptors uint64) int {
	if descriptors <= keptDescriptors {
		return fewConnections
	}
	return int(min(max((descriptors-keptDescriptors)/2, fewConnections), manyConnections))
}
