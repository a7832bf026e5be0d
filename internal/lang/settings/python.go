package settings

import "strings"

var pythonOpeners = map[string]opener{
	"connect":             {own: true, in: []string{"pymysql", "mysqldb", "mysql.connector", "mariadb", "aiomysql", "asyncmy"}, order: byHost},
	"create_pool":         {own: true, in: []string{"aiomysql", "asyncmy"}},
	"MySQLConnectionPool": {own: true, order: []string{"-"}},
	"MySQLDatabase":       {own: true, order: []string{"database"}}, "PooledMySQLDatabase": {own: true, order: []string{"database"}},
	"create_engine": {}, "create_async_engine": {},
}

// pythonImport reads import a.b as c, and from a.b import c as d, e.
func (s *script) pythonImport(i int) {
	from := s.toks[i].text == "from"
	if !from && i > 0 && s.toks[i-1].kind != '\n' {
		return
	}
	dotted := func() string {
		var b strings.Builder
		for i++; i < len(s.toks) && (s.toks[i].kind == 'w' && s.toks[i].text != "import" && s.toks[i].text != "as" || s.toks[i].text == "."); i++ {
			b.WriteString(s.toks[i].text)
		}
		return b.String()
	}
	of := dotted()
	if !from {
		if i+1 < len(s.toks) && s.toks[i].text == "as" {
			s.aliases[s.toks[i+1].text] = of
		}
		return
	}
	for i < len(s.toks) && len(s.aliases) < maxFields {
		name := dotted()
		if name == "" {
			if i < len(s.toks) && s.toks[i].text == "(" {
				continue
			}
			return
		}
		as := name
		if i+1 < len(s.toks) && s.toks[i].text == "as" {
			as = s.toks[i+1].text
			i += 2
		}
		s.aliases[as] = of + "." + name
		if of == "sqlalchemy" || strings.HasPrefix(of, "sqlalchemy.") || strings.HasPrefix(of, "peewee") || strings.HasPrefix(of, "playhouse") {
			delete(s.aliases, as) // its functions are known by their own names
		}
		if i >= len(s.toks) || s.toks[i].text != "," {
			return
		}
	}
}

// pythonSettings collects Django's DATABASES and the URLs of other frameworks.
func (s *script) pythonSettings() {
	if all, ok := s.value("DATABASES", len(s.toks)); ok && all.Kind == Structure {
		if one := all.Table.Fields["default"]; one.Kind == Structure {
			if f := Of(one.Table); f.NamesEngine() {
				if f["host"].Text == "" && len(f["host"].Why) == 0 {
					f["host"] = Literal("localhost")
				}
				s.all.add(f, s.path, one.Table.Line)
			}
		}
	}
	for _, name := range urlNames {
		if v, ok := s.value(name, len(s.toks)); ok {
			if f := Split(v); f != nil && f.NamesEngine() {
				s.all.add(f, s.path, s.toks[s.names[name][0]-1].line)
			}
		}
	}
}
