package tasks

import (
	"regexp"
	"strings"
	"unicode"
)

// rooted are paths by how they begin: on a drive, on a server, at home, or from here.
var rooted = regexp.MustCompile(`^(?:[A-Za-z]:[\\/].|\\\\.*[^\\]\\+[^\\]|~[\p{L}\p{Nd}]*/.|\.{1,2}[\\/](?s:.*)[\p{L}\p{Nd}])`)

// isPath reports whether a word is the path of a file or folder.
func isPath(word string) bool {
	if !strings.ContainsAny(word, `./\`) {
		return plainFiles.has(strings.ToLower(word))
	}
	slashed := strings.ReplaceAll(word, `\`, "/")
	first, rest, nested := strings.Cut(strings.TrimPrefix(slashed, "/"), "/")
	known := isFileName(lastPart(word))
	switch {
	case len(word) > maxLink, strings.ContainsAny(word, "*?<>|\"{}`\n"), hasScheme(word):
		return false
	case isDrive(word), strings.HasPrefix(word, `\\`), strings.HasPrefix(word, "~"):
		return rooted.MatchString(word)
	case strings.ContainsAny(word, "=,;!"), strings.Contains(word, "://"):
		return false
	case strings.HasPrefix(slashed, "./"), strings.HasPrefix(slashed, "../"):
		return rooted.MatchString(word)
	case strings.HasPrefix(slashed, "//"):
		return false
	case strings.HasPrefix(slashed, "/"):
		return known && !strings.Contains(word, ":") || nested && rest != "" && roots.has(strings.ToLower(first))
	case nested:
		return !strings.ContainsAny(first, ":@") && first != "" && (known || strings.HasSuffix(word, "/") && folder.MatchString(word))
	}
	return known && !strings.ContainsAny(word, ":@") && !products.has(strings.ToLower(word))
}

// folder is the form of src/ and a/b/: words with a slash at the end.
var folder = regexp.MustCompile(`^(?:[\p{L}\p{Nd}._-]+/)+$`)

// isFileName reports whether a name has an extension that is known, and
// something before it.
func isFileName(name string) bool {
	if len(name) > 255 {
		return false
	}
	if plainFiles.has(strings.ToLower(name)) {
		return true
	}
	ext := extension(name)
	stem := strings.TrimSuffix(name, name[len(name)-len(ext):])
	stem = strings.TrimSuffix(stem, ".")
	if ext == "" || stem == "" || !fileExtensions.has(ext) {
		return false
	}
	// A.C and U.S.C are initials.
	if len(ext) == 1 && isInitials(strings.ToLower(name)) && unicode.IsUpper(firstRune(name)) {
		return false
	}
	return isWordRune(lastRune(stem)) || strings.ContainsRune(")]_-+~", lastRune(stem))
}

// extension is what follows the last dot of a name, in lower case. Extensions are
// written in one case: the word after a missing space is not taken for one.
func extension(name string) string {
	name = lastPart(name)
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	ext := name[i+1:]
	if lower := strings.ToLower(ext); ext == lower || ext == strings.ToUpper(ext) {
		return lower
	}
	return ""
}

// lastPart is the last element of a path or address.
func lastPart(ref string) string {
	trimmed := strings.TrimRight(withoutQuery(ref), `/\`)
	if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 && i+1 < len(trimmed) {
		return trimmed[i+1:]
	}
	if trimmed == "" {
		return ref
	}
	return trimmed
}

// withoutQuery cuts the query and fragment off an address.
func withoutQuery(ref string) string {
	if !hasScheme(ref) && !strings.HasPrefix(ref, "www.") {
		return ref
	}
	if i := strings.IndexAny(ref, "?#"); i >= 0 {
		return ref[:i]
	}
	return ref
}

// isFetchable is true of addresses of something that can be read.
func isFetchable(ref string) bool {
	scheme, _, ok := strings.Cut(ref, "://")
	if !ok {
		return strings.HasPrefix(ref, "www.")
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "file":
		return hasScheme(ref)
	}
	return false
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://(?s:.)`)

func hasScheme(ref string) bool { return scheme.MatchString(ref) }

// hasDomain is true of example.com/spec.pdf, an address without its scheme.
func hasDomain(ref string) bool {
	host, rest, ok := strings.Cut(ref, "/")
	i := strings.LastIndexByte(host, '.')
	return ok && rest != "" && i > 0 && domains.has(host[i+1:])
}

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

func isDrive(word string) bool { return drive.MatchString(word) }
