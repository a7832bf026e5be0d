package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A kataribeFile is what access takes over from a configuration of kataribe.
type kataribeFile struct {
	Ranking     int       `toml:"ranking_count"`
	Slow        int       `toml:"slow_count"`
	Percentiles []float64 `toml:"percentiles"`
	Bundles     any       `toml:"bundle"` // a list of tables; in versions before 0.3 a table of tables
}

// bundles translates a configuration of kataribe: its bundles are routes here. A file
// that cannot be read is not needed.
func (a *alpLine) bundles(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		a.changed = append(a.changed, "-f "+name+" is not needed: the format is detected, and routes are learned")
		return
	}
	var f kataribeFile
	if err := toml.Unmarshal(text, &f); err != nil {
		a.err = usageError("-f %s: %w", name, err)
		return
	}
	if f.Ranking > 0 {
		a.flag("limit", strconv.Itoa(f.Ranking))
	}
	if f.Slow > 0 {
		a.flag("top-requests", strconv.Itoa(f.Slow))
	}
	if len(f.Percentiles) > 0 {
		var all []string
		for _, p := range f.Percentiles {
			all = append(all, strconv.FormatFloat(p, 'f', -1, 64))
		}
		a.percentiles = all
		a.flag("percentiles", strings.Join(all, ","))
	}
	for _, b := range bundlesIn(f.Bundles) {
		path, err := pathRegexp(b)
		if err != nil {
			a.err = usageError("-f %s: the bundle %q: %w", name, b, err)
			return
		}
		a.flag("matching", path)
	}
	a.changed = append(a.changed, "the format of "+name+" is not needed: it is detected, and routes without a bundle are learned")
}

// bundlesIn returns the expressions of the bundles.
func bundlesIn(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, bundlesIn(x)...)
		}
	case map[string]any:
		if text, ok := v["regexp"].(string); ok {
			return []string{text}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, bundlesIn(v[key])...)
		}
	}
	return all
}

var (
	// bundleMethod is the part of a bundle in front of the path, which a request line
	// begins with.
	bundleMethod = regexp.MustCompile(`^\^?(\([A-Z|?:]+\)|[A-Z]+|\[A-Z\][+*]|\\[wS][+*]|\.[+*]) (/|\\/)`)
	// bundleProtocol is the part of a bundle behind the path.
	bundleProtocol = regexp.MustCompile(`(?:\\\??| |\\s)(?:HTTP.*)?\$?$`)
)

// pathRegexp makes an expression of paths of one of request lines, as in
// `^(GET|HEAD) /memo/[0-9]+\b`. A comma, which separates expressions in the flag,
// is escaped.
func pathRegexp(bundle string) (string, error) {
	text := bundle
	if m := bundleMethod.FindStringSubmatchIndex(text); m != nil {
		text = "^" + text[m[4]:]
	}
	if m := bundleProtocol.FindStringIndex(text); m != nil && m[0] > 0 && strings.HasSuffix(text[m[0]:], "$") || m != nil && strings.ContainsAny(text[m[0]:], " H") {
		text = text[:m[0]] + "$"
	}
	text = escapeCommas(text)
	if _, err := regexp.Compile(text); err != nil {
		return "", fmt.Errorf("its part for the path %q: %w", text, err)
	}
	return text, nil
}

// escapeCommas writes commas outside of brackets as [,].
func escapeCommas(text string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
			continue
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == ',' && depth <= 0:
			b.WriteString("[,]")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
