// Package runlog keeps the event log of a run: the only truth about it.
//
// # Files
//
// A run folder holds
//
//	events.jsonl   one event a line, append-only
//	steps.idx      one small fixed-size record per committed step (see [Step])
//	blobs/         large values, each under the SHA-256 of its content
//	lock           held by the one process that may write
//
// Everything but events.jsonl and blobs/ can be lost while no process writes the run:
// it is rebuilt from them. A process that finds its lock or its log gone, or replaced,
// writes nothing more: see [LostError].
//
// # Durability
//
// [Log.Append] hands an event to a single writer, which writes and fsyncs
// whatever has gathered in the meantime as one group. Readers that follow the
// log ([Log.Follow]) see an event only after its group is on disk, so nobody
// acts on an event that a crash could take back. [Log.Sync] waits for that
// moment; everything that must happen after an event, such as an effect after
// its claim, waits for it.
//
// # Damage
//
// Every line and every record of the index ends with a checksum, and stored values are
// named by theirs. An unfinished last line is what a crash leaves behind; opening the log for
// writing cuts it off and says so. Damage anywhere else is never repaired
// silently: see [CorruptError] and [SetAside].
package runlog
