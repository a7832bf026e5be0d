package facts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const mainConf = `# a comment; with { signs }
worker_processes auto;
pid PREFIX/nginx.pid; error_log PREFIX/error.log;
events { worker_connections 64; }
http {
    log_format main '$remote_addr "$request" ' "it\"s";
    access_log PREFIX/access.log main;
    client_body_temp_path PREFIX/b; proxy_temp_path PREFIX/p; fastcgi_temp_path PREFIX/f; uwsgi_temp_path PREFIX/u; scgi_temp_path PREFIX/s;
    include conf.d/*.conf;
    map $http_upgrade $up { default upgrade; '' close; }
    upstream app { server 127.0.0.1:3000; keepalive 16; }
}
`

const siteConf = `server {
    listen 127.0.0.1:18999;
    location ~ \.(js|css)$ { root /srv; }
    location ~ "^/a{2,3}$" { return 204; }
    if ($http_x = "") { set $y "${host}_z"; }
    location / { proxy_pass http://app; }   # last
}
`

// TestNginxDump parses the output of a real nginx -T and checks the bytes of the
// files and the positions of the directives.
func TestNginxDump(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "conf.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "PREFIX", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	main := write("nginx.conf", mainConf)
	site := write("conf.d/site.conf", siteConf)
	program := "nginx"
	if _, err := exec.LookPath(program); err != nil {
		program = "/usr/sbin/nginx"
	}
	out, err := exec.Command(program, "-T", "-q", "-p", dir, "-c", main).Output()
	if err != nil {
		t.Fatalf("nginx -T: %v", err)
	}
	files := nginx.SplitDump(string(out))
	if len(files) != 2 || files[0].Path != main || files[1].Path != site {
		t.Fatalf("%v", files)
	}
	for _, f := range files {
		disk, _ := os.ReadFile(f.Path)
		if f.Text != string(disk) {
			t.Errorf("%s: %q, on disk %q", f.Path, f.Text, disk)
		}
	}
	fact, err := NginxFact("nginx", string(out))
	if err != nil || fact.Key != main {
		t.Fatal(fact, err)
	}
	http, ok := again(t, fact).HTTP()
	if !ok {
		t.Fatal("no http block")
	}
	server := http.Blocks("server")
	if len(server) != 1 || len(server[0].Own("location")) != 3 || http.Own("log_format")[0].Arg(2) != `it"s` || http.Blocks("upstream")[0].Own("keepalive")[0].Arg(0) != "16" {
		t.Errorf("%+v", http)
	}
	last := server[0].Own("location")[2]
	if got := siteConf[last.Start:last.End]; got != "location / { proxy_pass http://app; }" || last.Line != 6 || last.File != site {
		t.Errorf("%q at %s:%d", got, last.File, last.Line)
	}
	if arg := server[0].Own("location")[1].Arg(1); arg != "^/a{2,3}$" {
		t.Errorf("%q", arg)
	}
}

// again is the configuration of a fact that was kept in a history.
func again(t *testing.T, f iikanji.Fact) *nginx.Config {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var kept iikanji.Fact
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	conf, err := fact.TopicNginx.Value(kept)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// TestNginxFacts checks that the facts contain every file of a configuration byte
// for byte, and that every directive of the tree has its position in its file.
func TestNginxFacts(t *testing.T) {
	dump := "# configuration file /etc/nginx.conf:\n" + mainConf + "\n# configuration file /etc/conf.d/site.conf:\n" + siteConf + "\n"
	fs, err := NginxFacts("nginx", dump)
	if err != nil || len(fs) != 3 || !fact.TopicNginx.Is(fs[0]) {
		t.Fatal(fs, err)
	}
	text := map[string]string{}
	for _, f := range fs[1:] {
		if !fact.TopicNginxFile.Is(f) {
			t.Errorf("%+v", f)
		}
		text[f.Key] = f.Value
	}
	if text["/etc/nginx.conf"] != mainConf || text["/etc/conf.d/site.conf"] != siteConf {
		t.Errorf("%q", text)
	}
	conf := again(t, fs[0])
	conf.Walk(conf.Root(), nil, func(d nginx.Place) {
		if got := strings.TrimLeft(text[d.File][d.Start:d.End], `'"`); !strings.HasPrefix(got, d.Name()) {
			t.Errorf("%s at %s:%d is %q", d.Name(), d.File, d.Line, got)
		}
	})
	http, _ := conf.HTTP()
	m := http.Blocks("map")[0].Directives()
	if len(m) != 2 || m[1].Name() != "" || m[1].Arg(0) != "close" {
		t.Errorf("an entry without a name: %+v", m)
	}
}

// TestNginxVersion reads the version that a real nginx prints.
func TestNginxVersion(t *testing.T) {
	program := "nginx"
	if _, err := exec.LookPath(program); err != nil {
		program = "/usr/sbin/nginx"
	}
	out, err := exec.Command(program, "-v").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	f, err := NginxVersionFact("nginx", string(out))
	if err != nil || !regexp.MustCompile(`^\w+/\d+\.\d+\.\d+$`).MatchString(f.Value) || !fact.TopicNginxVersion.Is(f) {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = NginxVersionFact("nginx", "nginx: [warn] x\nnginx version: nginx/1.18.0 (Ubuntu)\n"); err != nil || f.Value != "nginx/1.18.0" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err = NginxVersionFact("nginx", "nginx version: "); err == nil {
		t.Error("a version was read from a line without one")
	}
}
