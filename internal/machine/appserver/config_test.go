package appserver

import (
	"errors"
	"os"
	"testing"
)

// TestConfig reads and edits configuration files. want is the setting of workers and of
// threads as "number place name", and the text after both were set to 7.
func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		server           Server
		text             string
		env              map[string]string
		workers, threads Setting
		after            string
	}{
		"plain numbers": {Gunicorn, "bind = ':80'\nworkers = 1  # enough\nthreads = 2\n", nil,
			Setting{1, File, ""}, Setting{2, File, ""}, "bind = ':80'\nworkers = 7  # enough\nthreads = 7\n"},
		"last one counts": {Gunicorn, "workers = 1\nworkers = 3", nil, Setting{3, File, ""}, Setting{1, Default, ""}, "workers = 1\nworkers = 7\nthreads = 7\n"},
		"computed": {Gunicorn, "import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1\n", nil,
			Setting{0, File, ""}, Setting{1, Default, ""}, "import multiprocessing\nworkers = 7\nthreads = 7\n"},
		"variable, set": {Gunicorn, "workers = int(os.environ.get('N', '3'))\n", map[string]string{"N": "5"},
			Setting{5, Variable, "N"}, Setting{1, Default, ""}, "workers = 7\nthreads = 7\n"},
		"variable, its default": {Gunicorn, "workers = int(os.getenv(\"N\") or 3)\n", nil,
			Setting{3, Variable, "N"}, Setting{1, Default, ""}, "workers = 7\nthreads = 7\n"},
		"not at the top":     {Gunicorn, "if x:\n    workers = 9\n", nil, Setting{1, Default, "WEB_CONCURRENCY"}, Setting{1, Default, ""}, "if x:\n    workers = 9\nworkers = 7\nthreads = 7\n"},
		"a comparison":       {Gunicorn, "workers == 2\n", nil, Setting{1, Default, "WEB_CONCURRENCY"}, Setting{1, Default, ""}, "workers == 2\nworkers = 7\nthreads = 7\n"},
		"puma":               {Puma, "workers 2\nthreads 1, 5\npreload_app!\n", nil, Setting{2, File, ""}, Setting{5, File, ""}, "workers 7\nthreads 1, 7\npreload_app!\n"},
		"puma with brackets": {Puma, "workers(2)\nthreads(8, 16)\n", nil, Setting{2, File, ""}, Setting{16, File, ""}, "workers(7)\nthreads(7, 7)\n"},
		"puma with variables": {Puma, "workers Integer(ENV.fetch('W', '0'))\nthreads 1, Integer(ENV['T'] || 5)\n", map[string]string{"W": "3"},
			Setting{3, Variable, "W"}, Setting{5, Variable, "T"}, "workers 7\nthreads 1, 7\n"},
		"puma of Rails": {Puma, "most = ENV.fetch(\"RAILS_MAX_THREADS\") { 3 }\nleast = ENV.fetch(\"RAILS_MIN_THREADS\") { most }\nthreads least, most\n", nil,
			Setting{0, Default, "WEB_CONCURRENCY"}, Setting{3, Variable, "RAILS_MAX_THREADS"}, "most = ENV.fetch(\"RAILS_MAX_THREADS\") { 3 }\nleast = ENV.fetch(\"RAILS_MIN_THREADS\") { most }\nthreads 7, 7\nworkers 7\n"},
		"puma with a condition": {Puma, "workers 2 if ENV['X']\n", nil, Setting{0, File, ""}, Setting{5, Default, "PUMA_MAX_THREADS"}, "workers 7\nthreads 7, 7\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Setup{Server: c.server, Workers: defaults[c.server].workers, Threads: defaults[c.server].threads}
			s.readConfig(c.text, c.env)
			if s.Workers != c.workers || s.Threads != c.threads {
				t.Errorf("workers %v, threads %v; want %v, %v", s.Workers, s.Threads, c.workers, c.threads)
			}
			after, err := WithConfig(c.server, c.text, 7, 7)
			if err != nil || after != c.after {
				t.Errorf("after: %q, %v; want %q", after, err, c.after)
			}
		})
	}
}

// TestConfigRefused checks texts that are not edited.
func TestConfigRefused(t *testing.T) {
	for _, c := range []struct {
		server Server
		text   string
	}{
		{Gunicorn, "workers = max(1,\n  2)\n"},
		{Gunicorn, "workers = 1 + \\\n 2\n"},
		{PM2, "module.exports = { apps: [] }\n"},
		{PM2, "instances: 1,\ninstances: 2\n"}, // two apps
		{PM2, "apps: [{ name: 'a', instances: 1 }, { name: 'b', instances: 2 }]\n"},
	} {
		var bad *UnreadableError
		if text, err := WithConfig(c.server, c.text, 7, 0); !errors.As(err, &bad) {
			t.Errorf("%q became %q, %v", c.text, text, err)
		}
	}
	text, err := WithConfig(PM2, "module.exports = { apps: [{ name: 'shop',\n  instances: 'max', exec_mode: 'cluster' }] }\n", 7, 0)
	if want := "module.exports = { apps: [{ name: 'shop',\n  instances: 7, exec_mode: 'cluster' }] }\n"; err != nil || text != want {
		t.Errorf("pm2: %q, %v", text, err)
	}
	if text, err = WithConfig(Unicorn, "worker_processes 2 # two\n", 7, 0); err != nil || text != "worker_processes 7 # two\n" {
		t.Errorf("unicorn: %q, %v", text, err)
	}
}

// TestOptions edits command lines.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		server Server
		args   []string
		want   string
	}{
		{Gunicorn, []string{"python3", "/usr/bin/gunicorn", "-w", "2", "a:b"}, "python3 /usr/bin/gunicorn --threads 4 --workers 3 a:b"},
		{Gunicorn, []string{"gunicorn", "--workers=2", "--threads", "2", "a:b"}, "gunicorn --workers 3 --threads 4 a:b"},
		{Gunicorn, []string{"gunicorn", "a:b"}, "gunicorn --threads 4 --workers 3 a:b"},
		{Puma, []string{"puma", "-w2", "-t", "1:5"}, "puma --workers 3 --threads 4:4"},
		{Uvicorn, []string{"python", "-m", "uvicorn", "a:b", "--workers", "1"}, "python -m uvicorn a:b --workers 3"},
	} {
		if got := join(WithArgs(c.server, c.args, 3, 4)); got != c.want {
			t.Errorf("%q became %q, want %q", c.args, got, c.want)
		}
	}
}

func join(words []string) (text string) {
	for i, w := range words {
		if i > 0 {
			text += " "
		}
		text += w
	}
	return text
}

// TestNodeWorkers finds the variable of a program with cluster.
func TestNodeWorkers(t *testing.T) {
	for _, c := range []struct {
		text string
		env  map[string]string
		want Setting
	}{
		{"for (i = 0; i < (process.env.WORKERS || 2); i++) cluster.fork();", nil, Setting{2, Variable, "WORKERS"}},
		{"n = Number(process.env['WEB_CONCURRENCY'] ?? 3); cluster.fork()", map[string]string{"WEB_CONCURRENCY": "5"}, Setting{5, Variable, "WEB_CONCURRENCY"}},
		{"n = process.env.WORKERS", nil, Setting{1, Unavailable, ""}},
		{"cluster.fork(); process.env.WORKERS; process.env.DB_CONCURRENCY", nil, Setting{1, Unavailable, ""}},
		{"cluster.fork()", nil, Setting{1, Unavailable, ""}},
	} {
		if got := nodeWorkers(c.text, c.env); got != c.want {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

// TestStates finds what a process keeps in its memory.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		ext, text string
		want      string // the kind and the name; "" for nothing
	}{
		{".py", "names = {}\n\ndef f(k):\n    names[k] = 1\n", "values names"},
		{".py", "SESSIONS: dict = {}\n\ndef f(k):\n    SESSIONS.pop(k)\n", "sessions SESSIONS"},
		{".py", "count = 0\n\ndef f():\n    global count\n    count += 1\n", "values count"},
		{".py", "names = {}\n\ndef f(k):\n    return names[k]\n", ""},
		{".py", "names = {}\nnames['a'] = 1\n", ""},
		{".py", "def f():\n    names = {}\n    names['a'] = 1\n", ""},
		{".py", "rows = []\n\ndef f(a):\n    a.rows.append(1)\n", ""},
		{".py", "db = pymysql.connect(host='h')\n", "connection db"},
		{".rb", "  $seen = {}\n  get '/' do\n    $seen[1] = 2\n  end\n", "values $seen"},
		{".rb", "  use Rack::Session::Pool\n", "sessions use Rack::Session::Pool"},
		{".rb", "LIMITS = {}\nputs LIMITS[1]\n", ""},
		{".rb", "module A\n  YEN = 100\n  NAMES = {}\n  def f\n    NAMES[1]\n  end\nend\n", ""},
		{".rb", "module A\n  NAMES = {}\n  def f\n    NAMES[1] = 2\n  end\nend\n", "values NAMES"},
		{".rb", "module A\n  NAMES = {}\n  def f(k)\n    NAMES[k] ||= read(k)\n  end\nend\n", ""}, // a memo
		{".py", "names = {}\n\ndef f(k):\n    if k not in names:\n        names[k] = read(k)\n    return names[k]\n", ""},
		{".py", "names = {}\n\ndef f(k):\n    if k not in names:\n        names[k] = 1\n\ndef g(k):\n    names[k] = 2\n", "values names"},
		{".py", "names = {}\n\ndef f(k):\n    if k not in names:\n        names[k] = 1\n\ndef g(k):\n    names.clear()\n", "values names"},
		{".js", "const seen = new Map();\nfunction f() {\n  seen.set(1, 2);\n}\n", "values seen"},
		{".js", "app.use(session({ secret: s }));\n", "sessions app.use(session({ secret: s }"},
		{".js", "app.use(session({ store: s }));\n", ""},
		{".js", "const names = ['a'];\nfunction f() {\n  return names[0] === 'a';\n}\n", ""},
	} {
		got := ""
		if all := statesIn(c.ext, "f"+c.ext, c.text); len(all) > 0 {
			got = string(all[0].Kind) + " " + all[0].Name
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzConfig: an edited file has the numbers that were set, and a second edit changes
// nothing.
func FuzzConfig(f *testing.F) {
	f.Add("workers = 1\nthreads = int(os.environ.get('N', 3)) # x\n", 3)
	f.Add("workers(2)\nthreads 1, Integer(ENV['T'] || 5)\n", 4)
	f.Add("instances: max }", 5)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = 1 + abs(n)%64
		for _, server := range []Server{Gunicorn, Puma, Unicorn, PM2} {
			threads := n
			if forms[server].threads == nil {
				threads = 0
			}
			after, err := WithConfig(server, text, n, threads)
			if err != nil {
				continue
			}
			s := &Setup{Server: server}
			s.readConfig(after, nil)
			if s.Workers.Now != n || s.Threads.Now != threads {
				t.Errorf("%s: %q became %q, which is read as %v, %v", server, text, after, s.Workers, s.Threads)
			}
			if again, err := WithConfig(server, after, n, threads); err != nil || again != after {
				t.Errorf("%s: %q became %q once more, %v", server, after, again, err)
			}
		}
		for _, ext := range []string{".py", ".rb", ".js"} {
			statesIn(ext, "f", text)
		}
		nodeWorkers(text, nil)
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// TestArena reads the configuration of the arena isuports-ruby: variables decide, which
// changes can set.
func TestArena(t *testing.T) {
	text, err := os.ReadFile("../../../arenas/isuports/files/ruby/puma.rb")
	if err != nil {
		t.Fatal(err)
	}
	s := &Setup{Server: Puma}
	s.readConfig(string(text), map[string]string{"PUMA_WORKERS": "0"})
	if s.Workers != (Setting{0, Variable, "PUMA_WORKERS"}) || s.Threads != (Setting{5, Variable, "PUMA_THREADS"}) {
		t.Errorf("workers %v, threads %v", s.Workers, s.Threads)
	}
}
