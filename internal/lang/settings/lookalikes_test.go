package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestLookalikes reads what looks like a connection: no connection of the app, or one to
// a database that is not of MySQL's family.
func TestLookalikes(t *testing.T) {
	for name, f := range map[string]File{
		"node: commented out":       {"db.js", "// mysql.createPool({ host: 'a', user: 'b' })\n/*\nmysql.createPool({ host: 'a', user: 'b' })\n*/\nconst re = /createPool({host:'a',user:'b'})/;\n"},
		"node: a test":              {"src/db.test.ts", "mysql.createPool({ host: 'a', user: 'b', password: 'c' });\n"},
		"node: a message":           {"db.js", "console.log('mysql://a:b@c/d'); logger.info(`mysql.createPool({host: 'a', user: 'b'})`);\n"},
		"node: a socket":            {"net.js", "const s = net.createConnection({ host: 'a', port: 25 });\n"},
		"node: PostgreSQL":          {"db.js", "new Pool({ host: 'a', user: 'b', password: 'c' }); new Sequelize('postgres://a:b@c/d'); knex({ client: 'pg', connection: { host: 'a', user: 'b' } });\n"},
		"node: mail":                {"mail.js", "nodemailer.createTransport({ host: 'a', auth: { user: 'b', pass: 'c' } });\n"},
		"node: Prisma's PostgreSQL": {"prisma/schema.prisma", "datasource db {\n  provider = \"postgresql\"\n  url = \"postgres://a:b@c/d\"\n}\n"},
		"ruby: commented out":       {"app.rb", "# Mysql2::Client.new(host: 'a', username: 'b')\n=begin\nMysql2::Client.new(host: 'a', username: 'b')\n=end\n__END__\nMysql2::Client.new(host: 'a', username: 'b')\n"},
		"ruby: a test":              {"spec/db_helper.rb", "Mysql2::Client.new(host: 'a', username: 'b')\n"},
		"ruby: PostgreSQL":          {"app.rb", "PG.connect(host: 'a', user: 'b', password: 'c')\nSequel.connect('postgres://a:b@c/d')\n"},
		"ruby: a text":              {"app.rb", "puts \"Mysql2::Client.new(host: 'a', username: 'b')\"\nlogger.info 'mysql2://a:b@c/d'\nx = <<~TEXT\n  Mysql2::Client.new(host: 'a', username: 'b')\nTEXT\n"},
		"ruby: SQLite":              {"config/database.yml", "development:\n  adapter: sqlite3\n  database: db/dev.sqlite3\n  username: a\n  host: b\n"},
		"python: commented out":     {"app.py", "# pymysql.connect(host='a', user='b')\n\"\"\"\npymysql.connect(host='a', user='b')\n\"\"\"\n"},
		"python: a test":            {"tests/test_db.py", "import pymysql\npymysql.connect(host='a', user='b')\n"},
		"python: other engines":     {"app.py", "import psycopg2, sqlite3\npsycopg2.connect(host='a', user='b', password='c')\nsqlite3.connect('a')\ncreate_engine('postgresql://a:b@c/d')\n"},
		"python: a message":         {"app.py", "print('mysql://a:b@c/d')\nlogging.info('pymysql.connect(host=a)')\nraise ValueError('mysql://a:b@c/d')\n"},
		"python: Django's SQLite":   {"settings.py", "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'x', 'USER': 'y', 'HOST': 'z'}}\n"},
		"php: commented out":        {"a.php", "new mysqli('a', 'b', 'c');\n<?php\n// new mysqli('a', 'b', 'c');\n# new PDO('mysql:host=a', 'b');\n/* new PDO('mysql:host=a', 'b'); */\n?>\nnew PDO('mysql:host=a', 'b');\n"},
		"php: other engines":        {"a.php", "<?php\nnew PDO('sqlite:/a/b.db');\nnew PDO('pgsql:host=a;dbname=b', 'c', 'd');\n"},
		"php: a message":            {"a.php", "<?php\nerror_log(\"mysql://a:b@c/d\");\necho 'mysql://a:b@c/d';\n"},
		"another kind of file":      {"README.md", "sql.Open(\"mysql\", \"a:b@tcp(c:1)/d\")\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range Read([]File{f}, nil) {
				t.Errorf("found %s at %s", describe(c), c.Where())
			}
		})
	}
}

// TestMissing: what cannot be known is named with its place, and no secret is in it.
func TestMissing(t *testing.T) {
	const secret = "hush-7"
	for name, c := range map[string]struct {
		file File
		want string
	}{
		"a function that is not known": {File{"db.js", "const pool = mysql.createPool({ user: 'u', host: discover('db'), password: '" + secret + "' });"}, "the result of discover at db.js:1"},
		"a password of a vault":        {File{"app.py", "import pymysql\nc = pymysql.connect(host='h', user='u', password=vault.read('db'))\n"}, "the password (the result of vault.read at app.py:2)"},
		"a file of settings":           {File{"app.rb", "c = YAML.load_file('x.yml')\nMysql2::Client.new(host: c['host'], username: 'u')\n"}, "YAML.load_file at app.rb:1"},
		"a parameter":                  {File{"a.php", "<?php\nfunction db($host) { return new PDO(\"mysql:host=$host\", 'u', '" + secret + "'); }\n"}, "the name $host at a.php:2"},
	} {
		got := Read([]File{c.file}, []Layer{{Name: "process", Values: vars{"OTHER": secret}}})
		if len(got) != 1 {
			t.Errorf("%s: %d connections", name, len(got))
			continue
		}
		if text := strings.Join(got[0].Missing(), "; "); !strings.Contains(text, c.want) || strings.Contains(text, secret) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestVariables: the variables that a connection comes from are named.
func TestVariables(t *testing.T) {
	f := File{"app.py", "import os, pymysql\npymysql.connect(host=os.environ['H'], user='u', password=os.getenv('P', 'x'))\n"}
	got := Read([]File{f}, []Layer{{Name: "process", Values: vars{"H": "h"}}, {Name: "file", Values: vars{"P": "p"}}})
	if len(got) != 1 || !slices.Equal(got[0].Variables(), []string{"P", "H"}) {
		t.Fatalf("%+v", got)
	}
	if o, ok := got[0].Password.Variable(); !ok || o.Layer != 1 || o.Name != "P" {
		t.Errorf("the password is of %+v", o)
	}
}

// TestComposeEnv reads the variables of a file of docker compose, but not those of its
// database.
func TestComposeEnv(t *testing.T) {
	got := ComposeEnv("services:\n  app:\n    build: .\n    environment:\n      DB_HOST: 127.0.0.1 # here\n      DB_PORT: \"${DB_PORT:-3307}\"\n  worker:\n    environment:\n      - DB_USER=w\n      - NAMELESS\n  db:\n    image: mysql:8\n    environment:\n      MYSQL_ROOT_PASSWORD: r\n")
	want := vars{"DB_HOST": "127.0.0.1", "DB_PORT": "3307", "DB_USER": "w"}
	if len(got) != len(want) {
		t.Errorf("%q", got)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %q, want %q", k, got[k], v)
		}
	}
}

// TestHostile: sources that are deep, long or endless end in time and find nothing wrong.
func TestHostile(t *testing.T) {
	tier.Slow(t)
	deep := strings.Repeat("f(", 100_000)
	for name, f := range map[string]File{
		"nested calls in go":       {"a.go", "package a\nvar x = " + deep},
		"nested calls in js":       {"a.js", "x = " + deep},
		"nested blocks in php":     {"a.php", "<?php " + strings.Repeat("if (1) {", 50_000)},
		"nested lists in python":   {"a.py", "x = " + strings.Repeat("[", 100_000)},
		"nested methods in ruby":   {"a.rb", strings.Repeat("def a\n", 50_000)},
		"elsif without end":        {"a.rb", "if a\n" + strings.Repeat("elsif b\n", 50_000)},
		"a text that doubles":      {"a.js", "x = 'ab';" + strings.Repeat("x = x + x;", 5_000)},
		"a list that doubles":      {"a.js", "x = [1,2];" + strings.Repeat("x = f(...x, ...x);", 5_000)},
		"functions that fan out":   {"a.js", "function a(x) { return b(x) + b(x) + b(x) }\nfunction b(x) { return a(x) + a(x) + a(x) }\na(1)"},
		"a struct of itself":       {"a.go", "package a\ntype T struct { A, B, C, D, E, F, G, H T }\nvar x T\nvar y = T{}"},
		"templates in templates":   {"a.js", "x = " + strings.Repeat("`${", 5_000)},
		"anchors of themselves":    {"config/database.yml", "a: &a\n  <<: *a\n  b: *a\n"},
		"strings that do not end":  {"a.py", strings.Repeat("x = '''a\ny = f\"{", 5_000)},
		"heredocs that do not end": {"a.rb", strings.Repeat("x = <<~A + <<~B\n", 5_000)},
		"bytes":                    {"a.php", "<?php \x00\xff\\\xfe'\\"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Read([]File{f}, nil); len(got) > 0 {
				t.Errorf("found %d connections", len(got))
			}
		})
	}
}

// FuzzRead expects no file to stop the readers, and no value of the environment in what is
// missing.
func FuzzRead(f *testing.F) {
	for _, forms := range [][]form{nodeForms, rubyForms, pythonForms, phpForms} {
		for _, form := range forms {
			f.Add(form.path, form.text)
		}
	}
	layers := []Layer{{Name: "process", Values: vars{"DB_HOST": "db", "DB_PASSWORD": "hush-7-hush", "DATABASE_URL": "mysql://u:hush-7-hush@h/d"}}}
	f.Fuzz(func(t *testing.T, path, source string) {
		for _, c := range Read([]File{{path, source}}, layers) {
			if c.Path != path || c.Line < 0 {
				t.Errorf("a connection at %s", c.Where())
			}
			if strings.Contains(strings.Join(c.Missing(), " "), "hush-7-hush") && !strings.Contains(source, "hush-7-hush") {
				t.Errorf("a secret is in %q", c.Missing())
			}
		}
	})
}

// FuzzComposeEnv expects names of variables only.
func FuzzComposeEnv(f *testing.F) {
	f.Add("services:\n  app:\n    environment:\n      A: ${B:-c}\n      D: &d e\n      F: *d\n")
	f.Add("services:\n  app:\n    environment:\n    - A=b\n")
	f.Fuzz(func(t *testing.T, source string) {
		for name := range ComposeEnv(source) {
			if !isName(name) {
				t.Errorf("a variable is called %q", name)
			}
		}
	})
}
