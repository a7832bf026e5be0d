package settings

var nodeOpeners = map[string]opener{
	"createPool": {own: true}, "createConnection": {own: true},
	"Sequelize":  {order: []string{"database", "username", "password"}},
	"DataSource": {}, "createTypeormConnection": {}, "knex": {},
}

// imports notes what the words import and require give names to.
func (s *script) imports(i int) {
	switch {
	case s.lang == javaScript && s.toks[i].text == "import":
		s.nodeImport(i)
	case s.lang == javaScript && s.toks[i].text == "default" && i > 0 && s.toks[i-1].text == "export":
		s.names["module.exports"] = append(s.names["module.exports"], i+1)
	case s.lang == python && (s.toks[i].text == "import" || s.toks[i].text == "from"):
		s.pythonImport(i)
	case s.lang == php:
		s.phpNames(i)
	}
}

// nodeImport reads import x from "path" and import { x, y as z } from "path".
func (s *script) nodeImport(i int) {
	var names [][2]string
	for i++; i < len(s.toks) && len(names) < maxFields; i++ {
		switch t := s.toks[i]; {
		case t.text == "as" && i+1 < len(s.toks) && len(names) > 0:
			i++
			names[len(names)-1][0] = s.toks[i].text
		case t.text == "from" && i+1 < len(s.toks):
			if of := s.toks[i+1]; of.kind == 's' && len(of.parts) == 1 {
				for _, n := range names {
					s.aliases[n[0]] = of.parts[0].text + n[1]
				}
			}
			return
		case t.kind == 'w' && t.text != "type":
			suffix := "." + t.text
			if s.toks[i-1].text == "import" || s.toks[i-1].text == "*" {
				suffix = ""
			}
			names = append(names, [2]string{t.text, suffix})
		case t.kind != 'o' || t.text == ";" || t.text == "(":
			return
		}
	}
}

// destructured reads const { A = "x", B: b } = process.env: each name is assigned an
// expression that is put behind the script's tokens.
func (s *script) destructured(i int) {
	right := s.toks[i+1 : min(i+4, len(s.toks))]
	if len(right) < 3 || right[0].text != "process" || right[2].text != "env" {
		return
	}
	begin := i - 1
	for depth := 0; begin > 0; begin-- {
		if t := s.toks[begin].text; t == "}" {
			depth++
		} else if t == "{" {
			if depth--; depth == 0 {
				break
			}
		}
	}
	p := s.at(begin+1, 0)
	for p.i < i-1 && p.tok().kind == 'w' {
		key := p.tok()
		name := key.text
		p.i++
		if p.take(":") {
			name = p.tok().text
			p.i++
		}
		start := len(s.toks)
		s.toks = append(s.toks, right...)
		s.toks = append(s.toks, token{kind: 'o', text: "."}, key)
		if p.take("=") {
			from := p.i
			p.upTo(",", "}")
			s.toks = append(append(s.toks, token{kind: 'o', text: "??"}), s.toks[from:p.i]...)
		}
		s.toks = append(s.toks, token{kind: 'o', text: ";"})
		s.names[name] = append(s.names[name], start)
		p.toks = s.toks
		if !p.take(",") {
			return
		}
	}
}

// exported collects what a module of settings exports, as knexfile.js does.
func (s *script) exported() {
	if v, ok := s.value("module.exports", len(s.toks)); ok {
		s.all.asConfig(v, s.path)
	}
}

// prisma reads datasource name { provider = …, url = … }.
func (r *reading) prisma(path, text string) {
	s := r.script(path, text, javaScript)
	for i, t := range s.toks {
		if t.kind != 'w' || t.text != "datasource" {
			continue
		}
		all := NewTable(t.line)
		p := s.at(i+1, 0)
		for p.upTo("{", ""); p.tok().kind != 0 && !p.is("}"); p.i++ {
			if key := p.tok().text; p.i+1 < len(p.toks) && p.toks[p.i+1].text == "=" {
				p.i += 2
				if key == "provider" {
					key = "engine"
				}
				all.Set(key, p.expression())
				p.i--
			}
		}
		if f := Of(all); f.NamesEngine() {
			r.add(f, path, t.line)
		}
	}
}

// sequelizeJSON reads sequelize's config.json.
func (r *reading) sequelizeJSON(path, text string) {
	r.asConfig(r.script(path, text, javaScript).at(0, 0).expression(), path)
}
