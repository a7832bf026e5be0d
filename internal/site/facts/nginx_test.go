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
	var tree []iikanji.Directive
	if err := json.Unmarshal([]byte(fact.Value), &tree); err != nil {
		t.Fatal(err)
	}
	http := tree[4]
	server := http.All("server")
	if len(server) != 1 || len(server[0].All("location")) != 3 || http.All("log_format")[0].Arg(2) != `it"s` || http.All("upstream")[0].All("keepalive")[0].Arg(0) != "16" {
		t.Errorf("%+v", http)
	}
	last := server[0].All("location")[2]
	if got := siteConf[last.Start:last.End]; got != "location / { proxy_pass http://app; }" || last.Line != 6 || last.File != site {
		t.Errorf("%q at %s:%d", got, last.File, last.Line)
	}
	if arg := server[0].All("location")[1].Arg(1); arg != "^/a{2,3}$" {
		t.Errorf("%q", arg)
	}
}

// TestNginxFacts checks that the facts contain every file of a configuration byte
// for byte, and that every directive of the tree has its position in its file.
func TestNginxFacts(t *testing.T) {
	dump := "# configuration file /etc/nginx.conf:\n" + mainConf + "\n# configuration file /etc/conf.d/site.conf:\n" + siteConf + "\n"
	fs, err := NginxFacts("nginx", dump)
	if err != nil || len(fs) != 3 || fs[0].Topic != iikanji.TopicNginx {
		t.Fatal(fs, err)
	}
	text := map[string]string{}
	for _, f := range fs[1:] {
		if f.Topic != iikanji.TopicNginxFile {
			t.Errorf("%+v", f)
		}
		text[f.Key] = f.Value
	}
	if text["/etc/nginx.conf"] != mainConf || text["/etc/conf.d/site.conf"] != siteConf {
		t.Errorf("%q", text)
	}
	var tree []iikanji.Directive
	if err := json.Unmarshal([]byte(fs[0].Value), &tree); err != nil {
		t.Fatal(err)
	}
	var check func([]iikanji.Directive)
	check = func(in []iikanji.Directive) {
		for _, d := range in {
			if got := strings.TrimLeft(text[d.File][d.Start:d.End], `'"`); !strings.HasPrefix(got, d.Name) {
				t.Errorf("%s at %s:%d is %q", d.Name, d.File, d.Line, got)
			}
			check(d.Block)
		}
	}
	check(tree)
	m := tree[4].All("map")[0].Block
	if len(m) != 2 || m[1].Name != "" || m[1].Arg(0) != "close" {
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
	if err != nil || !regexp.MustCompile(`^\w+/\d+\.\d+\.\d+$`).MatchString(f.Value) || f.Topic != iikanji.TopicNginxVersion {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = NginxVersionFact("nginx", "nginx: [warn] x\nnginx version: nginx/1.18.0 (Ubuntu)\n"); err != nil || f.Value != "nginx/1.18.0" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err = NginxVersionFact("nginx", "nginx version: "); err == nil {
		t.Error("a version was read from a line without one")
	}
}

func TestParseConfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a b": `f:1: unexpected end of file, expecting ";" or "}"`, "a {\n b;": `f:2: unexpected end of file, expecting "}"`, "}": `f:1: unexpected "}"`,
		"\n;": `f:2: unexpected ";"`, "a 'b": "f:1: a quoted word has no end", "a\n${b": `f:2: unexpected end of file, expecting ";" or "}"`,
	} {
		if _, err := ParseConf("f", text); err == nil || err.Error() != "reading "+want {
			t.Errorf("%q: %v, want reading %s", text, err, want)
		}
	}
}

// FuzzParseConf checks that directives are in order within the text, and that the
// bytes of each one are that directive.
func FuzzParseConf(f *testing.F) {
	f.Add(mainConf)
	f.Add(siteConf)
	f.Add("a_by_lua_block { if x then {} end }")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := ParseConf("f", text)
		if err != nil {
			return
		}
		end := 0
		for _, d := range tree {
			if d.Start < end || d.End <= d.Start || d.End > len(text) {
				t.Fatalf("%q: %+v", text, d)
			}
			end = d.End
			again, err := ParseConf("f", text[d.Start:d.End])
			if err != nil || len(again) != 1 || again[0].Name != d.Name || strings.Join(again[0].Args, "\x00") != strings.Join(d.Args, "\x00") || len(again[0].Block) != len(d.Block) {
				t.Fatalf("%q: %+v, read again %+v, %v", text, d, again, err)
			}
		}
	})
}
