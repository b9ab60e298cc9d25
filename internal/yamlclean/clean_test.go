package yamlclean

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what comes out into testdata/clean")

// A sample is a text from testdata/clean. An archive has pairs of files: the
// text, and with ".want" after its name what comes out.
type sample struct {
	name, text, want string
}

func samples(t testing.TB) []sample {
	t.Helper()
	names, err := filepath.Glob("testdata/clean/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var all []sample
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(name), ".txtar")
		want := map[string]string{}
		for _, f := range archive.Files {
			if base, ok := strings.CutSuffix(f.Name, ".want"); ok {
				want[base] = string(f.Data)
			}
		}
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, ".want") {
				all = append(all, sample{group + "/" + f.Name, string(f.Data), want[f.Name]})
			}
		}
	}
	return all
}

// describe writes a result as the samples do.
func describe(r Result, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	status := "read"
	if r.Repaired {
		status = "repaired: " + strings.Join(r.Fixes, ", ")
	}
	return status + "\n" + string(r.Data) + "\n"
}

func TestClean(t *testing.T) {
	all := samples(t)
	if len(all) < 120 {
		t.Errorf("there are %d samples, want 120 at least", len(all))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			got := describe(Clean(s.text))
			if diff := cmp.Diff(s.want, got); diff != "" && !*update {
				t.Errorf("Clean(%q): -want +got\n%s", s.text, diff)
			}
		})
	}
	if *update {
		updateSamples(t, all)
	}
}

func updateSamples(t *testing.T, all []sample) {
	archives := map[string]*txtar.Archive{}
	for _, s := range all {
		group, name, _ := strings.Cut(s.name, "/")
		file := filepath.Join("testdata", "clean", group+".txtar")
		if archives[file] == nil {
			old, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archives[file] = &txtar.Archive{Comment: old.Comment}
		}
		got := describe(Clean(s.text))
		archives[file].Files = append(archives[file].Files, txtar.File{Name: name, Data: []byte(s.text)}, txtar.File{Name: name + ".want", Data: []byte(got)})
	}
	for file, a := range archives {
		if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var _ = bytes.Equal
var _ = json.Valid
var _ = fmt.Sprint
