package accesslog

import (
	"errors"
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
