package plan

import (
	"strings"
	"testing"
	"time"
)

func TestMillis(t *testing.T) {
	for text, want := range map[string]int64{
		"1ms": 1, "500ms": 500, "30s": 30_000, "1m30s": 90_000, "1.5h": 5_400_000, "1h2m3s4ms": 3_723_004, "0.001s": 1, "1.001s": 1001,
		".5s": 500, "2.s": 2000, "2400h": 8_640_000_000, "90m": 5_400_000, "1s1s": 2000, "0h1s": 1000,
	} {
		if got, err := Millis(text); err != nil || got != want {
			t.Errorf("Millis(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "no duration", "s": "no duration", "soon": "no duration", "-3s": "no duration", "+3s": "no duration", " 3s": "no duration", ".s": "no duration",
		"30": "units h, m, s or ms", "1m30": "no duration", "3 s": "no duration", "3S": "no duration",
		"3d": "units h, m, s or ms", "5us": "no duration", "5µs": "no duration", "1ns": "no duration", "3sec": "no duration",
		"0s": "out of range", "0.5ms": "out of range", "2401h": "out of range", strings.Repeat("9", 400) + "h": "out of range",
	} {
		if got, err := Millis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Millis(%q) = %d, %v, want an error with %q", text, got, err, want)
		}
	}
}

func FuzzMillis(f *testing.F) {
	for _, text := range []string{"1h2m3s4ms", ".5s", "1.", "3d", "µ", "1.001s", "2400h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Millis(text)
		if err != nil {
			return
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("Millis(%q) = %d, but it is no duration of Go: %v", text, got, err)
		}
		if want := d.Milliseconds(); got != want && got != want+1 { // a sum of parts below 1ms
			t.Fatalf("Millis(%q) = %d, want %d", text, got, want)
		}
	})
}
