package runlog

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
)

// Every line ends with a checksum of the bytes before it:
//
//	{"type":"step_completed",...,"crc":"1a2b3c4d"}
//
// It is a field like any other, so that old readers pass over it. Logs of earlier
// versions have none; a session has it on all of its lines, or on none.
const (
	sealHead = `,"crc":"`
	sealTail = `"}`
	sealSize = len(sealHead) + 8 + len(sealTail)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // which processors can compute

// seal ends the object that begins in lines at from with its checksum.
func seal(lines []byte, from int) []byte {
	lines = bytes.TrimSuffix(lines, []byte("}"))
	sum := crc32.Checksum(lines[from:], castagnoli)
	lines = append(lines, sealHead...)
	lines = hex.AppendEncode(lines, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	return append(lines, sealTail...)
}

// A sealing says what the checksum of a line is worth.
type sealing int

const (
	unsealed sealing = iota // it has none
	whole
	broken // it has one, and is not what was written
)

func sealingOf(line []byte) sealing {
	at := len(line) - sealSize
	if at < 0 || string(line[at:at+len(sealHead)]) != sealHead || string(line[len(line)-len(sealTail):]) != sealTail {
		return unsealed
	}
	var want uint32
	for _, c := range line[at+len(sealHead) : len(line)-len(sealTail)] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default:
			return broken
		}
		want = want<<4 | uint32(c)
	}
	if crc32.Checksum(line[:at], castagnoli) != want {
		return broken
	}
	return whole
}

// looksWhole reports whether a line was written to its end: a crash leaves lines
// without one, or with holes. If such a line is not intact, it was damaged later.
func looksWhole(line []byte) bool {
	if bytes.IndexByte(line, 0) >= 0 {
		return false
	}
	at := len(line) - sealSize
	return bytes.HasSuffix(line, []byte("}")) || at >= 0 && bytes.HasPrefix(line[at:], []byte(sealHead))
}
