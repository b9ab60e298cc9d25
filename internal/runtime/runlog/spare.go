package runlog

import "os"

// spareFiles is how many descriptors a log keeps for the end of its run: what derives
// and writes the result has no more files open at a time.
const spareFiles = 4

// keepSpare opens the run folder a few times, for nothing but the descriptors. A
// process that has none to spare goes without.
func (l *Log) keepSpare() {
	for range spareFiles {
		f, err := os.Open(l.dir)
		if err != nil {
			return
		}
		l.spare = append(l.spare, f)
	}
}

// FreeSpare gives the descriptors up that were kept for the end of the run. Connections
// and tools may have taken all others, and a run that has ended needs some to write
// its result.
func (l *Log) FreeSpare() {
	l.mu.Lock()
	spare := l.spare
	l.spare = nil
	l.mu.Unlock()
	for _, f := range spare {
		_ = f.Close() // nothing was written to it
	}
}
