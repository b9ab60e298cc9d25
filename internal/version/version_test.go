package version

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	in := func(path, version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version}}
	}
	used := &debug.BuildInfo{Main: debug.Module{Path: "example.com/other", Version: "v9.9.9"}, Deps: []*debug.Module{{Path: module, Version: "v1.4.0"}}}
	beside := &debug.BuildInfo{Main: debug.Module{Path: module + "/temporal"}, Deps: []*debug.Module{{Path: module, Version: "v0.0.0", Replace: &debug.Module{Path: "../"}}}}
	for name, test := range map[string]struct {
		number string
		info   *debug.BuildInfo
		want   string
	}{
		"a release":                {"1.2.3", in(module, "v1.0.0"), "1.2.3"},
		"installed":                {"", in(module, "v1.2.3"), "1.2.3"},
		"a candidate":              {"", in(module, "v1.2.3-rc.1"), "1.2.3-rc.1"},
		"a commit":                 {"", in(module, "v0.0.0-20261116053231-560170b00000"), next},
		"a commit after a release": {"", in(module, "v1.2.4-0.20261116053231-560170b00000"), next},
		"changed":                  {"", in(module, "v1.2.3+dirty"), next},
		"a source tree":            {"", in(module, "(devel)"), next},
		"used by another program":  {"", used, "1.4.0"},
		"of the same source tree":  {"", beside, next},
		"another program":          {"", in("example.com/other", "v9.9.9"), next},
		"unknown":                  {"", nil, next},
	} {
		if got := of(test.number, test.info); got != test.want {
			t.Errorf("of(%s) = %s, want %s", name, got, test.want)
		}
	}
}
