package settings

import (
	"regexp"
	"strings"
)

// A yamlNode is a value of the part of YAML that is read: maps by indentation, lists of
// texts, texts, anchors and aliases.
type yamlNode struct {
	text  string
	line  int
	keys  []string
	named map[string]*yamlNode
	list  []string
}

// Limits of a file of YAML.
const (
	maxYAML     = 256 << 10
	maxYAMLDeep = 30
)

// parseYAML reads a file of YAML; a line that it does not know is skipped.
func parseYAML(source string) *yamlNode {
	root := &yamlNode{named: map[string]*yamlNode{}}
	type level struct {
		indent int
		node   *yamlNode
	}
	stack := []level{{-1, root}}
	anchors := map[string]*yamlNode{}
	number := 0
	for raw := range strings.Lines(source) {
		number++
		line := strings.TrimRight(withoutComment(raw), " \t\r\n")
		text := strings.TrimLeft(line, " ")
		if text == "" || text == "---" || strings.HasPrefix(text, "<%") && !strings.HasPrefix(text, "<%=") {
			continue
		}
		indent := len(line) - len(text)
		item, isItem := strings.CutPrefix(text, "- ")
		for len(stack) > 1 && (indent < stack[len(stack)-1].indent+1) && !(isItem && indent == stack[len(stack)-1].indent) {
			stack = stack[:len(stack)-1]
		}
		at := stack[len(stack)-1].node
		if isItem {
			at.list = append(at.list, unquoted(strings.TrimSpace(item)))
			continue
		}
		key, is, ok := strings.Cut(text, ":")
		if !ok || is != "" && is[0] != ' ' || len(stack) > maxYAMLDeep {
			continue
		}
		key, is = unquoted(strings.TrimSpace(key)), strings.TrimSpace(is)
		if alias, ok := strings.CutPrefix(is, "*"); ok && key == "<<" {
			at.take(anchors[alias])
			continue
		}
		n := &yamlNode{line: number, named: map[string]*yamlNode{}}
		if name, ok := strings.CutPrefix(is, "&"); ok {
			name, is, _ = strings.Cut(name, " ")
			anchors[name] = n
		} else if alias, ok := strings.CutPrefix(is, "*"); ok && anchors[alias] != nil {
			n.take(anchors[alias])
			is = anchors[alias].text
		}
		n.text = unquoted(is)
		at.put(key, n)
		if is == "" {
			stack = append(stack, level{indent, n})
		}
	}
	return root
}

func (n *yamlNode) put(key string, v *yamlNode) {
	if n.named[key] == nil {
		if len(n.keys) >= maxFields {
			return
		}
		n.keys = append(n.keys, key)
	}
	n.named[key] = v
}

// take copies the entries of an anchor that are not there.
func (n *yamlNode) take(from *yamlNode) {
	if from == nil || from == n {
		return
	}
	for _, key := range from.keys {
		if n.named[key] == nil {
			n.put(key, from.named[key])
		}
	}
}

// withoutComment removes a comment that is outside of quotes and of ERB.
func withoutComment(line string) string {
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case strings.HasPrefix(line[i:], "<%"):
			end := strings.Index(line[i:], "%>")
			if end < 0 {
				return line
			}
			i += end + 1
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return line[:i]
		}
	}
	return line
}

func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

var composed = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// ComposeEnv returns the variables that a file of docker compose sets for the services
// that are not databases. A variable within a value has its default or is empty.
func ComposeEnv(source string) map[string]string {
	out := map[string]string{}
	if len(source) > maxYAML {
		return out
	}
	services := parseYAML(source).named["services"]
	if services == nil {
		return out
	}
	for _, name := range services.keys {
		service := services.named[name]
		image, env := service.named["image"], service.named["environment"]
		if env == nil || image != nil && (strings.Contains(image.text, "mysql") || strings.Contains(image.text, "mariadb")) {
			continue
		}
		set := func(key, is string) {
			if !isName(key) || len(out) >= maxFields {
				return
			}
			out[key] = composed.ReplaceAllStringFunc(is, func(s string) string { return composed.FindStringSubmatch(s)[2] })
		}
		for _, key := range env.keys {
			set(key, env.named[key].text)
		}
		for _, item := range env.list {
			if key, is, ok := strings.Cut(item, "="); ok {
				set(key, is)
			}
		}
	}
	return out
}

// isName reports whether a text may be the name of a variable.
func isName(s string) bool {
	return s != "" && !digit(s[0]) && strings.Trim(strings.ToUpper(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
