package runner

import "testing"

// TestBounds: blocks cover a table, there are not too many of them, and they get smaller.
func TestBounds(t *testing.T) {
	for _, records := range []int{0, 1, 49, 50, 51, 799, 800, 10_000, 123_457, 1_000_000, 100_000_000} {
		at := bounds(records)
		if at[0] != 0 || at[len(at)-1] != records {
			t.Errorf("%d records: blocks from %d to %d", records, at[0], at[len(at)-1])
		}
		if most := mostBlocks + 300; len(at) > most {
			t.Errorf("%d records: %d blocks, want at most %d", records, len(at)-1, most)
		}
		size := records
		for i := range len(at) - 1 {
			now := at[i+1] - at[i]
			if now < 1 || now > size {
				t.Fatalf("%d records: block %d has %d, after one of %d", records, i, now, size)
			}
			size = now
		}
		if size > leastRecords {
			t.Errorf("%d records: the last block has %d, want at most %d", records, size, leastRecords)
		}
	}
}
