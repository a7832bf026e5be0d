package nginxconf

import (
	"slices"
	"strings"
	"testing"
)

const sample = `# The site
user www-data;
events { worker_connections 768; }
http {
    log_format main '$remote_addr "$request"'
                    "\"x\" \t";   # two lines
    map $http_user_agent $bad { "~isu\{2}" 1; default ${x}y; }
    server {
        listen 80;
        location ~ \.(jpe?g|png)$ { expires 1d; }
        location / { proxy_pass http://127.0.0.1:8080; } # the app
    }
    content_by_lua_block { local t = {a = "};"}; ngx.say(t.a) }
}
# the end`

func TestParse(t *testing.T) {
	b, err := parse("nginx.conf", strings.Replace(sample, `"};"`, `"{};"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	http := b.items[2]
	if http.name() != "http" || http.line != 4 {
		t.Errorf("third is %q in line %d", http.name(), http.line)
	}
	if args := http.body.items[0].args(); !slices.Equal(args, []string{"main", `$remote_addr "$request"`, "\"x\" \t"}) {
		t.Errorf("log_format has %q", args)
	}
	m := http.body.items[1].body
	if m.items[0].name() != `~isu\{2}` || m.items[1].arg(0) != "${x}y" || m.items[1].arg(1) != "" {
		t.Errorf("map has %q and %q", m.items[0].name(), m.items[1].args())
	}
	if loc := http.body.items[2].body.items[1]; !slices.Equal(loc.args(), []string{"~", `\.(jpe?g|png)$`}) {
		t.Errorf("location has %q", loc.args())
	}
}

// TestParseErrors: each has its place, and none is a crash.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a b\nc {":                "f:2: unexpected end of file",
		"a;\n}":                   "f:2: unexpected '}'",
		"a b }":                   `f:1: unexpected "}"`,
		"a 'b":                    "f:1: a quoted word has no end",
		`a "b\`:                   "f:1: a quoted word has no end",
		`a "b"c;`:                 "f:1: unexpected 'c' after a quoted word",
		";":                       "f:1: unexpected ';'",
		"a\nb":                    "f:2: unexpected end of file",
		"x_by_lua_block { {}":     "f:1: unexpected end of file",
		strings.Repeat("a{", 200): "nested deeper",
	} {
		if _, err := parse("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: what parses prints as it was, byte for byte.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("a b 'c' \"d\";\r\n#x\n{")
	f.Add("if ($a ~* \"x\") { set $b ${c}; }")
	f.Add("a_by_lua_block { {} } b;")
	f.Add("a \\ b\\;c;}")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parse("f", text)
		if err != nil {
			return
		}
		if got := b.String(); got != text {
			t.Fatalf("printed %q", got)
		}
		for _, d := range b.items {
			d.name()
			d.args()
		}
	})
}
