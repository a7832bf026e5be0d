package nginx

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// isPattern reports whether nginx expands the argument of an include. Any other
// argument is the name of one file, which must exist.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// expand lists the files that a pattern of an include matches, in nginx's
// order: by bytes.
func expand(pattern string, files Files) ([]string, error) {
	pattern, err := goPattern(pattern)
	if err != nil {
		return nil, err
	}
	found, err := files.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("expanding the include %s: %w", pattern, err)
	}
	found = slices.DeleteFunc(slices.Clone(found), func(p string) bool { return !matches(pattern, p) })
	slices.Sort(found)
	return slices.Compact(found), nil
}

// goPattern translates a pattern of glob(3) to one of Go's path.Match, which
// negates a set by "^" only.
func goPattern(pattern string) (string, error) {
	for _, class := range []string{"[:", "[.", "[="} {
		if strings.Contains(pattern, class) {
			return "", fmt.Errorf("include %s: classes of characters in patterns are not supported", pattern)
		}
	}
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	if _, err := path.Match(pattern, ""); err != nil {
		return "", fmt.Errorf("include %s: %w", pattern, err)
	}
	return pattern, nil
}

// matches reports whether a pattern matches a path as glob(3) does: a period at
// the beginning of a file or folder is matched by a period only.
func matches(pattern, name string) bool {
	patterns, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(patterns) != len(names) {
		return false
	}
	for i, p := range patterns {
		ok, err := path.Match(p, names[i])
		if err != nil || !ok || strings.HasPrefix(names[i], ".") && !strings.HasPrefix(p, ".") && !strings.HasPrefix(p, `\.`) {
			return false
		}
	}
	return true
}
