package tasks

import (
	"regexp"
	"strings"
	"unicode"
)

// isPath reports whether a word is the path of a file or folder.
func isPath(word string) bool {
	if !strings.ContainsAny(word, `./\`) {
		return plainFiles.has(strings.ToLower(word))
	}
	if len(word) > maxLink || strings.ContainsAny(word, "*?<>|\"{}`\n") || hasScheme(word) {
		return false
	}
	switch {
	case isDrive(word):
		return len(word) > len(`C:\`)
	case strings.HasPrefix(word, `\\`):
		return strings.Count(strings.Trim(word, `\`), `\`) >= 1
	case strings.HasPrefix(word, "~"):
		user, rest, ok := strings.Cut(word[1:], "/")
		return ok && rest != "" && strings.IndexFunc(user, func(r rune) bool { return !isWordRune(r) }) < 0
	}
	if strings.ContainsAny(word, "=,;!") || strings.Contains(word, "://") {
		return false
	}
	for _, prefix := range []string{"./", "../", `.\`, `..\`} {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			return strings.ContainsFunc(rest, isWordRune)
		}
	}
	slashed := strings.ReplaceAll(word, `\`, "/")
	name := lastPart(word)
	known := isFileName(name)
	switch {
	case strings.HasPrefix(slashed, "//"):
		return false
	case strings.HasPrefix(slashed, "/"):
		first, rest, ok := strings.Cut(slashed[1:], "/")
		return known && !strings.Contains(word, ":") || ok && rest != "" && roots.has(strings.ToLower(first))
	case strings.Contains(slashed, "/"):
		first, _, _ := strings.Cut(slashed, "/")
		if strings.Contains(first, ":") || strings.Contains(first, "@") || first == "" {
			return false
		}
		return known || strings.HasSuffix(word, "/") && isFolder(word)
	}
	return known && !strings.ContainsAny(word, ":@") && !products.has(strings.ToLower(word))
}

// isFolder is true of src/ and a/b/: words with a slash at the end.
func isFolder(word string) bool {
	for part := range strings.SplitSeq(strings.TrimSuffix(word, "/"), "/") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune("._-", r) }) {
			return false
		}
	}
	return true
}

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

func isDrive(word string) bool {
	return len(word) >= 3 && isASCIILetter(word[0]) && word[1] == ':' && (word[2] == '\\' || word[2] == '/')
}
