package runs

import (
	"reflect"
	"strings"
	"testing"
)

// TestExactly: numbers of a result are compared digit by digit, however many they have.
func TestExactly(t *testing.T) {
	read := func(text string) map[string]any {
		t.Helper()
		object, err := exactly([]byte(text))
		if err != nil {
			t.Fatalf("exactly(%.60s) = %v", text, err)
		}
		return object
	}
	long := `{"n":1` + strings.Repeat("0", 400) + `}`
	if !reflect.DeepEqual(read(long), read(long)) || reflect.DeepEqual(read(long), read(strings.Replace(long, "10", "20", 1))) {
		t.Error("a number of 401 digits is not compared as it is written")
	}
	if reflect.DeepEqual(read(`{"n":12345678901234567}`), read(`{"n":12345678901234568}`)) {
		t.Error("two numbers are the same that differ in the last of 17 digits")
	}
	for _, bad := range []string{"", "[", "{} {}", `{"n":1`, "[1]"} {
		if object, err := exactly([]byte(bad)); err == nil {
			t.Errorf("exactly(%q) = %v, want an error", bad, object)
		}
	}
}
