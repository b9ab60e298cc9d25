package program

import "testing"

// TestQueue: no two versions share a queue, and no home has that of all.
func TestQueue(t *testing.T) {
	for _, test := range []struct {
		version int
		home    string
		want    string
	}{
		{1, "", "maker"}, {1, "here", "maker@here"}, {2, "", "maker.v2"}, {2, "here", "maker.v2@here"},
	} {
		if got := queue(test.version, test.home); got != test.want {
			t.Errorf("queue(%d, %q) = %q, want %q", test.version, test.home, got, test.want)
		}
	}
}
