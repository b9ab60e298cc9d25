// Package version says which version of the program this is. It comes from the build.
package version

import (
	"regexp"
	"runtime/debug"
	"strings"
)

const module = "github.com/maker-mdap/maker"

// next is what a build from a source tree is on its way to.
const next = "0.1.0-dev"

// number is set by release.sh, with -ldflags -X.
var number string

// String is the version without a v: that of the release, of the module as it was
// installed, or the next one.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return of(number, info)
}

// released is a version that has a tag, and not just a commit or changes on top of one.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+\.?\d*)?$`)

func of(number string, info *debug.BuildInfo) string {
	if number != "" {
		return number
	}
	if info == nil {
		return next
	}
	modules := append([]*debug.Module{&info.Main}, info.Deps...) // a program of others may use this one
	for _, m := range modules {
		if m.Path == module && m.Replace == nil && released.MatchString(m.Version) {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return next
}

// Revision is the commit that the program was built from; empty if the build does not say.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}
