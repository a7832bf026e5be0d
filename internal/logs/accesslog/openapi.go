package accesslog

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ParseRoutes reads a file of routes: an OpenAPI or Swagger description in JSON
// or YAML, or one route per line in the syntax of [Route], with # for comments.
func ParseRoutes(text string) (all []Pattern, err error) {
	trimmed := strings.TrimSpace(text)
	var found []string
	switch {
	case strings.HasPrefix(trimmed, "{"):
		found, err = openAPIJSON(trimmed)
	case hasTopKey(text, "paths"):
		found = openAPIYAML(text)
	default:
		found = routeLines(text)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("it has no routes")
	}
	for _, s := range found {
		p, err := Route(s)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func routeLines(text string) (found []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			found = append(found, strings.Join(words, " "))
		}
	}
	return found
}

// operations are the keys of a path that are methods.
var operations = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// openAPIJSON lists the operations of a description in JSON.
func openAPIJSON(text string) (found []string, err error) {
	var doc struct {
		Paths    map[string]map[string]json.RawMessage `json:"paths"`
		Servers  []struct{ URL string }                `json:"servers"`
		BasePath string                                `json:"basePath"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("reading it as OpenAPI: %w", err)
	}
	base := doc.BasePath
	if len(doc.Servers) > 0 {
		base = doc.Servers[0].URL
	}
	for path, item := range doc.Paths {
		var methods []string
		for key := range item {
			methods = append(methods, key)
		}
		found = append(found, operationsOf(base, path, methods)...)
	}
	slices.Sort(found)
	return found, nil
}

// operationsOf lists the routes of a path: with the path of the server before
// it, because requests have it.
func operationsOf(base, path string, keys []string) (found []string) {
	if u, err := url.Parse(base); err == nil {
		base = strings.TrimSuffix(u.Path, "/")
	}
	for _, m := range operations {
		if slices.Contains(keys, m) {
			found = append(found, strings.ToUpper(m)+" "+base+path)
		}
	}
	return found
}

// hasTopKey reports whether a YAML text has a key at its top level.
func hasTopKey(text, key string) bool {
	for line := range strings.Lines(text) {
		if k, _, _ := yamlKey(line); k == key && line[0] != ' ' {
			return true
		}
	}
	return false
}

// yamlKey reads "key: value" or "- key: value" with its indentation.
func yamlKey(line string) (key, value string, indent int) {
	line = strings.TrimRight(line, " \r\n")
	rest := strings.TrimLeft(line, " ")
	indent = len(line) - len(rest)
	if item, ok := strings.CutPrefix(rest, "- "); ok {
		rest, indent = strings.TrimLeft(item, " "), indent+2
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 || !strings.HasPrefix(rest[end+2:], ":") {
			return "", "", indent
		}
		return rest[1 : end+1], strings.TrimSpace(rest[end+3:]), indent
	}
	i := strings.Index(rest+" ", ": ")
	if i < 0 || strings.HasPrefix(rest, "#") {
		return "", "", indent
	}
	value, _, _ = strings.Cut(strings.TrimSpace(rest[min(i+1, len(rest)):]), " #")
	return rest[:i], strings.Trim(strings.TrimSpace(value), `"'`), indent
}

// openAPIYAML lists the operations of a description in block style, which
// generators and people write: the keys below "paths" and the keys below these.
func openAPIYAML(text string) (found []string) {
	var section, path, base string
	var keys []string
	pathIndent, keyIndent := 0, 0
	flush := func() {
		found = append(found, operationsOf(base, path, keys)...)
		path, keys = "", nil
	}
	for line := range strings.Lines(text) {
		key, value, indent := yamlKey(line)
		if key == "" {
			continue
		}
		switch {
		case indent == 0:
			flush()
			if section, pathIndent = key, 0; key == "basePath" {
				base = value
			}
		case section == "servers" && key == "url" && base == "":
			base = value
		case section == "paths" && (pathIndent == 0 || indent == pathIndent):
			flush()
			path, pathIndent, keyIndent = key, indent, 0
		case section == "paths" && (keyIndent == 0 || indent == keyIndent):
			keys, keyIndent = append(keys, key), indent
		}
	}
	flush()
	return found
}
