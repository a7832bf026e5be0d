package sourcedb

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

// configFile reads the connections of a configuration file: database.yml, Prisma's
// schema, and sequelize's config.json.
func (r *runner) configFile(u *unit, source string) {
	l := u.lang
	u.lang = langJS
	u.top = &scope{vars: map[string]value{}, unit: u}
	switch l {
	case langYAML:
		if len(source) <= maxYAML {
			u.lang = langRuby
			r.databaseYAML(u, parseYAML(source))
		}
	case langPrisma:
		r.prisma(u, newReader(source, langPrisma, 1))
	case langJSON:
		p := newReader(source, langJSON, 1)
		r.asConfig(r.eval(p.expression(), u.top), u, 1)
	}
}

// databaseYAML reads the section of the mode in which the app runs.
func (r *runner) databaseYAML(u *unit, root *yamlNode) {
	section := root.named[r.mode("RAILS_ENV", "RACK_ENV")]
	for _, other := range []string{"production", "development"} {
		if section == nil {
			section = root.named[other]
		}
	}
	if section == nil {
		return
	}
	if one := section.named["primary"]; one != nil && len(one.keys) > 0 {
		section = one
	}
	t := newTable("", Origin{Layer: -1, Path: u.path, Line: section.line})
	for _, key := range section.keys {
		t.set(key, r.erb(section.named[key], u))
	}
	if f := r.partsOf(t); f.namesEngine() {
		if f["host"].kind == unknown && f["socket"].kind == unknown {
			f["host"] = value{kind: texts, text: "localhost"}
		}
		r.add(f, u, section.line)
	}
}

// erb evaluates a text with parts of ERB.
func (r *runner) erb(n *yamlNode, u *unit) value {
	var parts []value
	rest := n.text
	for range 50 {
		before, code, ok := strings.Cut(rest, "<%=")
		if !ok {
			break
		}
		code, after, ok := strings.Cut(code, "%>")
		if !ok {
			break
		}
		if before != "" {
			parts = append(parts, r.eval(text(before, n.line), u.top))
		}
		p := newReader(strings.TrimSuffix(code, "-"), langRuby, n.line)
		parts = append(parts, r.eval(p.expression(), u.top))
		rest = after
	}
	if len(parts) == 0 || rest != "" {
		parts = append(parts, r.eval(text(rest, n.line), u.top))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return joined(parts...)
}

// prisma reads datasource name { provider = …, url = … }.
func (r *runner) prisma(u *unit, p *reader) {
	for !p.end() {
		if !p.take("datasource") {
			p.i++
			continue
		}
		line := p.at(-1).line
		for !p.end() && !p.take("{") {
			p.i++
		}
		t := newTable("", Origin{Layer: -1, Path: u.path, Line: line})
		for !p.end() && !p.take("}") {
			key := p.tok().text
			p.i++
			if p.take("=") {
				v := r.eval(p.expression(), u.top)
				if key == "provider" {
					key = "engine"
				}
				t.set(key, v)
			}
		}
		if f := r.partsOf(t); f.namesEngine() {
			r.add(f, u, line)
		}
	}
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
			if !isVariable(key) || len(out) >= maxFields {
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
