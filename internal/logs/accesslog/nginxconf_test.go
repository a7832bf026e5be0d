package accesslog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// readOne reads one configuration; any include is a file that includes itself.
func readOne(text string) (*NginxLog, error) {
	return ReadNginxConf("/c/nginx.conf", func(pattern string) ([]string, error) {
		if pattern == "/c/nginx.conf" {
			return []string{text}, nil
		}
		return []string{"include x; include x; include x;"}, nil
	})
}

// TestNginxConfEscapes: the text of a log_format is what nginx makes of its words.
func TestNginxConfEscapes(t *testing.T) {
	for words, want := range map[string]string{
		`'$status\t' "\"$request\"\r\n"`:   "$status\t\"$request\"\r\n",
		`$status\ \"$request\"\;\t`:        "$status\\ \"$request\"\\;\t",
		`escape=json '{"a": "${status}"}'`: `{"a": "${status}"}`,
		`escape=none escape=json`:          `escape=json`,
		`${status}b|a}b#c'd'`:              `${status}b|a}b#c'd'`,
		`'\d\\d'`:                          `\d\d`,
	} {
		n, err := readOne("http { log_format x " + words + "; access_log /a.log x buffer=32k; }")
		if err != nil || n.Formats[0] != (NamedFormat{"x", want}) || n.Logs["/a.log"] != "x" {
			t.Errorf("%s: %+v, %v, want %q", words, n, err, want)
		}
	}
}

// TestNginxConfRefused: an invalid configuration is refused with the place of the error.
func TestNginxConfRefused(t *testing.T) {
	_, err := readOne("http {\n log_format x 'a'b;\n}")
	var syntax *nginx.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 || syntax.File != "/c/nginx.conf" {
		t.Errorf("%v", err)
	}
	if _, err := readOne("http { include x; access_log /a; }"); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Errorf("%v", err)
	}
	if _, err := readOne("http { }"); err == nil || !strings.Contains(err.Error(), "neither a log_format nor an access_log") {
		t.Errorf("%v", err)
	}
}

// TestLocationsAreRoutes: locations for one path and for files win over what is learned from
// the paths; a location that passes requests on does not join the routes behind it.
func TestLocationsAreRoutes(t *testing.T) {
	conf := `http { access_log /l; server {
		location = /health { return 200; }
		location /assets/ { root /srv; expires 1d; }
		location /api/ { proxy_pass http://127.0.0.1:1; }
		location ~ \\.php$ { fastcgi_pass 127.0.0.1:2; }
		location / { try_files $uri @app; }
	} }`
	n, err := ReadNginxConf("/c/nginx.conf", func(string) ([]string, error) { return []string{conf}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for i := range 40 {
		log.WriteString(combinedLine("GET", fmt.Sprintf("/assets/%c/logo.png", 'a'+i%5), 200, 1))
		log.WriteString(combinedLine("GET", fmt.Sprintf("/api/users/%d", i), 200, 1))
		log.WriteString(combinedLine("GET", "/health", 200, 1))
	}
	var keys []string
	for _, r := range read(t, Options{Routes: n.Routes}, log.String()).Rows {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	if got, want := strings.Join(keys, ", "), "GET /api/users/:id, GET /assets/*file, GET /health"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
