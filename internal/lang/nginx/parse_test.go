package nginx

import (
	"errors"
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
	b, err := Parse("nginx.conf", sample)
	if err != nil {
		t.Fatal(err)
	}
	http := b.Items[2]
	if http.Name() != "http" || http.Line != 4 {
		t.Errorf("third is %q in line %d", http.Name(), http.Line)
	}
	if args := http.Block.Items[0].Args(); !slices.Equal(args, []string{"main", `$remote_addr "$request"`, "\"x\" \t"}) {
		t.Errorf("log_format has %q", args)
	}
	m := http.Block.Items[1].Block
	if m.Items[0].Name() != `~isu\{2}` || m.Items[1].Arg(0) != "${x}y" || m.Items[1].Arg(1) != "" {
		t.Errorf("map has %q and %q", m.Items[0].Name(), m.Items[1].Args())
	}
	if loc := http.Block.Items[2].Block.Items[1]; !slices.Equal(loc.Args(), []string{"~", `\.(jpe?g|png)$`}) {
		t.Errorf("location has %q", loc.Args())
	}
	places := 0
	err = eachDirective(b, func(d *Directive) error {
		places++
		text := sample[d.Start:d.End]
		if d.File != "nginx.conf" || d.Line != 1+strings.Count(sample[:d.Start], "\n") || !strings.HasPrefix(text, d.Words[0].Raw) || strings.TrimLeft(d.String(), " \n") != text && !strings.HasPrefix(d.Words[0].Before, "# ") && !strings.Contains(d.Words[0].Before, " #") {
			t.Errorf("%s at %s:%d, bytes %d to %d: %q", d.Name(), d.File, d.Line, d.Start, d.End, text)
		}
		return nil
	})
	if err != nil || places != 15 {
		t.Errorf("%d directives, %v", places, err)
	}
}

// TestParseErrors: each has its place, and no input crashes the parser.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a b\nc {":                     "f:2: unexpected end of file",
		"a;\n}":                        `f:2: unexpected "}"`,
		"a b }":                        `f:1: unexpected "}"`,
		"a 'b":                         "f:1: a quoted word has no end",
		"a '\nb":                       "f:1: a quoted word has no end",
		`a "b\`:                        "f:1: a quoted word has no end",
		`a "b"c;`:                      `f:1: unexpected "c" after a quoted word`,
		";":                            `f:1: unexpected ";"`,
		"a\nb":                         "f:2: unexpected end of file",
		"a\n\\":                        "f:2: unexpected end of file",
		"a ${b":                        "f:1: unexpected end of file",
		"a\n{ b":                       "f:2: unexpected end of file",
		"x_by_lua_block { {}":          "f:1: unexpected end of file",
		"x_by_lua_block {\n--[[ }":     "f:1: unexpected end of file",
		"map a b {\nc {} }":            `f:2: unexpected "{"`,
		strings.Repeat("a{", 200):      "nested deeper",
		strings.Repeat("#\n", 1<<25+1): "f:1: the file is larger than",
	} {
		_, err := Parse("f", text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) || syntax.File != "f" {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// TestLua: the content of a Lua block is kept, and its end is where Lua's
// strings and comments end.
func TestLua(t *testing.T) {
	for _, content := range []string{
		"", " ", "{}", "{{}{}}", `"}"`, `'}'`, `"\"}"`, `'\'}'`, `"\\"`, "-- }\n", "--}\n{}", "--[[ }\n} ]]", "--[==[ } ]] } ]==]", "[[ } ]]",
		"[=[ ]] } ]=]", "t[1]", "t[t[1]]", "a - b", "a --[ }\n", `"it's {"`, "'\"{'", "x = \"a\n{}", "[=", "--",
	} {
		if content == "--" { // the comment hides the brace
			content += "\n"
		}
		text := "a_by_lua_block $x {" + content + "} b c;"
		b, err := Parse("f", text)
		if err != nil || len(b.Items) != 2 || b.Items[0].Block.Lua != content || b.String() != text || text[b.Items[1].Start:b.Items[1].End] != "b c;" {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// FuzzParse: a parsed text is printed unchanged, byte for byte; printed and parsed
// again it has the same words; and the text of a directive is that directive.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("a b 'c' \"d\";\r\n#x\n{")
	f.Add("if ($a ~* \"x\") { set $b ${c}; }")
	f.Add("x_by_lua_block { {} } b; y_by_lua_block { --[[ } ]] '}' }")
	f.Add("a \\ b\\;c;}")
	f.Add("\xef\xbb\xbfa b;")
	for _, w := range words {
		f.Add("a " + w + ";")
	}
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Parse("f", text)
		if err != nil {
			return
		}
		if got := b.String(); got != text {
			t.Fatalf("printed %q", got)
		}
		end := 0
		for _, d := range b.Items {
			if d.Start < end || d.End <= d.Start || d.End > len(text) {
				t.Fatalf("%q: bytes %d to %d", d, d.Start, d.End)
			}
			end = d.End
			again, err := Parse("f", text[d.Start:d.End])
			if err != nil || len(again.Items) != 1 || again.Items[0].Name() != d.Name() || !slices.Equal(again.Items[0].Args(), d.Args()) {
				t.Fatalf("%q: parsed again %v", d, err)
			}
			if len(d.String()) > tokenBuffer/2 {
				continue // quotes may make a word too long
			}
			made, err := Parse("f", New(d.Name(), d.Args()...).String())
			if err != nil || made.Items[0].Name() != d.Name() || !slices.Equal(made.Items[0].Args(), d.Args()) {
				t.Fatalf("%q: made from its values it is %q, %v", d, made, err)
			}
			if clone := d.Clone(); clone.Name() != d.Name() || !slices.Equal(clone.Args(), d.Args()) {
				t.Fatalf("%q: its clone is %q", d, clone)
			}
		}
	})
}
