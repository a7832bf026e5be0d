package settings

import "path"

var phpOpeners = map[string]opener{
	"PDO":    {order: []string{"url", "user", "password"}},
	"mysqli": {own: true, order: byHost}, "mysqli_connect": {own: true, order: byHost},
}

// phpNames notes define("NAME", …) and the table that a file of settings returns.
func (s *script) phpNames(i int) {
	rest := s.toks[i+1:]
	switch s.toks[i].text {
	case "define":
		if len(rest) > 3 && rest[0].text == "(" && rest[1].kind == 's' && len(rest[1].parts) == 1 && rest[2].text == "," {
			s.names[rest[1].parts[0].text] = append(s.names[rest[1].parts[0].text], i+4)
		}
	case "return":
		if len(rest) > 0 && (rest[0].text == "[" || rest[0].text == "array") {
			s.names["return"] = append(s.names["return"], i+1)
		}
	}
}

// phpSettings collects Laravel's config/database.php and the constants of a WordPress.
func (s *script) phpSettings() {
	switch path.Base(s.path) {
	case "database.php":
		if v, ok := s.value("return", len(s.toks)); ok {
			s.all.asConfig(v, s.path)
		}
	case "wp-config.php":
		f := Fields{}
		for name, key := range map[string]string{"DB_USER": "user", "DB_PASSWORD": "password", "DB_NAME": "schema", "DB_HOST": "host"} {
			f[key], _ = s.value(name, len(s.toks))
		}
		if at := s.names["DB_HOST"]; len(at) > 0 && f["user"].Kind == Text {
			s.all.add(f, s.path, s.toks[at[0]].line)
		}
	}
}
