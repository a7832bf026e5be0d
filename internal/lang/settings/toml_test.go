package settings

import (
	"fmt"
	"strings"
	"testing"
)

var tomlForms = []form{
	{name: "parts in a table", path: "config.toml", text: "title = \"shop\"\n\n[server]\nhost = \"0.0.0.0\"\nport = 8080\n\n[database]\ndriver = 'mysql' # the engine\nhost = \"db\"\nport = 3307\nuser = \"u\"\npassword = \"p#1\"\ndbname = \"shop\"\n",
		want: "u:p#1@db:3307/shop", line: 7, from: "SSS"},
	{name: "a URL", path: "config/default.toml", text: "[default.databases.shop]\nurl = \"mysql://u:p%40@db:3308/shop\"\npool_size = 10\n", want: "u:p@@db:3308/shop", line: 1, from: "SSS"},
	{name: "a DSN of go-sql-driver", path: "conf.toml", text: "[db]\ndsn = \"u:p@tcp(10.0.0.2:3309)/d?parseTime=true\"\n", want: "u:p@10.0.0.2:3309/d", line: 1, from: "SSS"},
	{name: "a table with the name of the engine", path: "settings.toml", text: "[mysql]\naddr = \"db:3310\"\nuser = \"u\"\npass = \"p\"\n", want: "u:p@db:3310/", line: 1, from: "SSS"},
	{name: "dotted keys", path: "a.toml", text: "database.type = \"mariadb\"\ndatabase.host = \"h\"\n\"database\" . user = \"u\"\n", want: "u:@h:3306/", line: 1, from: "S-S"},
	{name: "an inline table", path: "a.toml", text: "x = 1\nprimary = { engine = \"mysql\", host = \"h\", user = 'u', password = \"\\u00e9\" }\n", want: "u:é@h:3306/", line: 2, from: "SSS"},
	{name: "tables of a list", path: "a.toml", text: "[[databases]]\nengine = \"mysql\"\nhost = \"one\"\nuser = \"u\"\n", want: "u:@one:3306/", line: 1, from: "S-S"},
	{name: "the mode", path: "a.toml", text: "[production.database]\nurl = \"mysql://u:live@db/shop\"\n[development.database]\nurl = \"mysql://u:dev@db/shop\"\n", env: vars{"APP_ENV": "production"}, want: "u:live@db:3306/shop", line: 1, from: "SSS"},
	{name: "the only mode", path: "a.toml", text: "[production.database]\nurl = \"mysql://u:live@db/shop\"\n", want: "u:live@db:3306/shop", line: 1, from: "SSS"},
	{name: "texts and lists of several lines", path: "a.toml", text: "banner = \"\"\"\n[mysql]\nhost = \"no\"\n\"\"\"\nlist = [\n  \"a\",\n]\n[mysql]\nhost = \"yes\"\nuser = \"u\"\n", want: "u:@yes:3306/", line: 8, from: "S-S"},
}

func TestTOML(t *testing.T) {
	for _, c := range tomlForms {
		got := Read([]File{{c.path, c.text}}, []Layer{{Name: "process", Values: c.env}})
		if len(got) != 1 || describe(got[0]) != c.want || got[0].Line != c.line || origins(got[0]) != c.from {
			var found []string
			for _, g := range got {
				found = append(found, fmt.Sprint(describe(g), " line ", g.Line, " ", origins(g)))
			}
			t.Errorf("%s: %q, want %s line %d %s", c.name, found, c.want, c.line, c.from)
		}
	}
}

// TestOtherTOML: no connection to a database of MySQL's family.
func TestOtherTOML(t *testing.T) {
	for name, f := range map[string]File{
		"another engine":            {"a.toml", "[database]\ndriver = \"postgres\"\nhost = \"h\"\nuser = \"u\"\n"},
		"a URL of another engine":   {"a.toml", "[database]\nurl = \"postgres://u:p@h/d\"\n"},
		"no engine":                 {"a.toml", "[server]\nhost = \"h\"\nuser = \"u\"\n"},
		"an engine of another kind": {"a.toml", "[mysql]\ndriver = \"postgres\"\nhost = \"h\"\nuser = \"u\"\n"},
		"a manifest":                {"Cargo.toml", "[mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"a test":                    {"tests/a.toml", "[mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"a comment":                 {"a.toml", "# [mysql]\n# host = \"h\"\n# user = \"u\"\n"},
		"within a text":             {"a.toml", "a = \"\"\"\n[mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"two modes, not the app's":  {"a.toml", "[production.mysql]\nhost = \"h\"\nuser = \"u\"\n[staging.mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"too many dots":             {"a.toml", "[" + strings.Repeat("a.", 10_000) + "mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"braces without end":        {"a.toml", strings.Repeat("a = {b = 1, ", 20_000)},
		"a file that is too long":   {"a.toml", strings.Repeat("#\n", maxTOML) + "[mysql]\nhost = \"h\"\nuser = \"u\"\n"},
		"no file name":              {"config/.toml", "[mysql]\nhost = \"h\"\nuser = \"u\"\n"},
	} {
		if got := Read([]File{f}, nil); len(got) > 0 {
			t.Errorf("%s: %s", name, describe(got[0]))
		}
	}
}

// fuzzLanguage expects no source of one language to stop its reader, and no value of the
// environment in what is missing.
func fuzzLanguage(f *testing.F, path string, forms []form) {
	for _, form := range forms {
		f.Add(form.text)
	}
	layers := []Layer{{Name: "process", Values: vars{"DB_HOST": "db", "DB_PASSWORD": "hush-7-hush", "DATABASE_URL": "mysql://u:hush-7-hush@h/d"}}}
	f.Fuzz(func(t *testing.T, source string) {
		for _, c := range Read([]File{{path, source}}, layers) {
			if c.Path != path || c.Line < 1 || c.Line > strings.Count(source, "\n")+1 {
				t.Errorf("a connection at %s of %d lines", c.Where(), strings.Count(source, "\n")+1)
			}
			if strings.Contains(strings.Join(c.Missing(), " "), "hush-7-hush") && !strings.Contains(source, "hush-7-hush") {
				t.Errorf("a secret is in %q", c.Missing())
			}
		}
	})
}

func FuzzTOML(f *testing.F)       { fuzzLanguage(f, "config.toml", tomlForms) }
func FuzzJavaScript(f *testing.F) { fuzzLanguage(f, "db.js", nodeForms) }
func FuzzPython(f *testing.F)     { fuzzLanguage(f, "settings.py", pythonForms) }
func FuzzRuby(f *testing.F)       { fuzzLanguage(f, "db.rb", rubyForms) }
func FuzzPHP(f *testing.F)        { fuzzLanguage(f, "config/database.php", phpForms) }
func FuzzYAML(f *testing.F)       { fuzzLanguage(f, "config/database.yml", rubyForms) }
