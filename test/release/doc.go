// Package release tests that releases are built as release.sh says.
package release
