package maker_test

import (
	"os"
	"testing"

	"github.com/maker-mdap/maker"
)

func BenchmarkScript(b *testing.B) {
	s, err := maker.LoadScript("examples/scripts/hanoi.star")
	if err != nil {
		b.Fatal(err)
	}
	s.Args = map[string]string{"disks": "10"}
	for b.Loop() {
		dir, _ := os.MkdirTemp("", "bench")
		e, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=0.99"}})
		if err != nil {
			b.Fatal(err)
		}
		r, err := e.Script(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		if res, err := r.Result(); err != nil || res.Status != "completed" {
			b.Fatal(res, err)
		}
		e.Close()
		os.RemoveAll(dir)
	}
}
