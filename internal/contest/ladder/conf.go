package ladder

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// readConf reads variables of a database's server, or directives of nginx.
func readConf(h heading, body string) ([]placed, *Error) {
	var nginx []placed
	var server *placed
	for i, line := range strings.Split(body, "\n") {
		line = strings.TrimSpace(line)
		at := i + 1
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "[mysqld]":
			if server != nil || len(nginx) > 0 {
				return nil, mistake(at, "[mysqld] behind other lines").hint("a file is for one server")
			}
			server = &placed{iikanji.Remedy{Kind: "mysqlconf", Target: h.values["target"], Args: map[string]string{}}, at}
		case server != nil:
			name, value, ok := strings.Cut(line, "=")
			name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
			if value = strings.TrimSpace(value); !ok || name == "" || value == "" {
				return nil, mistake(at, "not a variable: %.60q", line).hint("want name = value")
			}
			if server.Args[name] != "" {
				return nil, mistake(at, "%s is set twice", name)
			}
			server.Args[name] = value
		default:
			name, value, ok := strings.Cut(strings.TrimSuffix(line, ";"), " ")
			if !ok || !strings.HasSuffix(line, ";") || strings.ContainsAny(line, "{}") {
				return nil, mistake(at, "not a directive: %.60q", line).hint("want name value; on one line, without a block: its place follows from the name")
			}
			nginx = append(nginx, placed{iikanji.Remedy{Kind: "nginxconf", Target: h.values["target"],
				Args: map[string]string{"act": "set", "directive": name, "value": strings.TrimSpace(value)}}, at})
		}
	}
	if server != nil {
		return []placed{*server}, nil
	}
	return nginx, nil
}
