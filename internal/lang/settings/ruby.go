package settings

import "strings"

var rubyOpeners = map[string]opener{
	"new":                  {own: true, in: []string{"mysql2.client", "trilogy"}},
	"connect":              {in: []string{"sequel"}},
	"mysql2":               {own: true, in: []string{"sequel"}},
	"establish_connection": {},
}

// command reads the arguments of a call without parentheses, to the end of its line.
func (s *script) command(p *parser) *Table {
	from := p.i
	for p.i < len(p.toks) && (p.toks[p.i].kind != '\n' || p.toks[p.i-1].text == ",") {
		p.i++
	}
	in := s.at(0, p.deep)
	in.toks = append(append([]token{{kind: 'o', text: "(", line: s.toks[from].line}}, s.toks[from:p.i]...), token{kind: 'o', text: ")"})
	return in.arguments(")")
}

// databaseYAML reads the section of database.yml of the mode in which the app runs.
func (r *reading) databaseYAML(path, text string) {
	if len(text) > maxYAML {
		return
	}
	root := parseYAML(text)
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
	s := r.script(path, "", ruby)
	t := NewTable(section.line)
	for _, key := range section.keys {
		t.Set(key, s.erb(section.named[key]))
	}
	if f := Of(t); f.NamesEngine() {
		if f["host"].Text == "" && f["socket"].Text == "" && len(f["host"].Why) == 0 {
			f["host"] = Literal("localhost")
		}
		r.add(f, path, section.line)
	}
}

// erb evaluates a text with parts of ERB.
func (s *script) erb(n *yamlNode) Value {
	var t token
	t.line = n.line
	for rest := n.text; ; {
		before, code, ok := strings.Cut(rest, "<%=")
		if before != "" {
			t.parts = append(t.parts, piece{text: before})
		}
		code, after, closed := strings.Cut(code, "%>")
		if !ok || !closed || len(t.parts) > 100 {
			break
		}
		t.parts = append(t.parts, piece{strings.TrimSuffix(code, "-"), true})
		rest = after
	}
	return s.at(0, 0).pieces(t)
}
