package nginx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const program = "/usr/sbin/nginx"

// skeleton is a configuration without network that a real nginx accepts.
// DIR is its folder and CONTENT the content of its only server.
const skeleton = `daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 64; }
http {
	access_log off; client_body_temp_path DIR/t; proxy_temp_path DIR/t; fastcgi_temp_path DIR/t; uwsgi_temp_path DIR/t; scgi_temp_path DIR/t;
	server { listen unix:DIR/s; set $v V; set $long_name L;
CONTENT
	}
}
`

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// words are arguments as they may be written. A real nginx answers with the
// value of each.
var words = []string{
	// Outside of quotes.
	`plain`, `a"b`, `a'b'c`, `a"b"c`, `a#b`, `a}b`, `a=b`, `a,b`, `(a)`, `a)b`, `)`, "a\vb", `日本語`, "\xff\xfe", "\xef\xbb\xbfa",
	// Escapes outside of quotes.
	`a\ b`, `a\;b`, `a\{b`, `a\}b`, `a\"b`, `a\'b`, `a\\b`, `a\tb`, `a\nb`, `a\rb`, `a\xb`, `a\.b`, `\"a`, `\'a`, `\#a`, `\\`, `\\\\`, `\\n`, `\\\n`, `\t`, "a\\\nb", "a\\\r\\\nb", `a\` + "\tb", `\;`, `\}`, `\{`,
	// In quotes.
	`""`, `''`, `"a b"`, `'a b'`, `"a'b"`, `'a"b'`, `"a;b"`, `"a{b"`, `"a}b"`, `"a{b}c"`, `'{;}'`, `"a#b"`, `"# a"`, "\"a\nb\"", "'a\r\nb'", "\"a\tb\"", "\"\n\n\"", `"(a)"`,
	// Escapes in quotes.
	`"a\"b"`, `"a\'b"`, `'a\"b'`, `'a\'b'`, `"a\\"`, `"a\\\\b"`, `"\t\r\n"`, `'\t\r\n'`, `"\x\.\d\;\{"`, `"a\\n"`, `"a\\\n"`, "\"a\\\nb\"", `"\\\""`, `'\\\''`, `"\b\0\1"`,
	// Variables.
	`${v}`, `a${v}b`, `$v`, `"${v}"`, `"a${v}b"`, `'$v'`, `$v\;`, `a${long_name}`, `${v}${v}`, `"$v{x}"`, `$v}`, `${v}}`, `"{${v}}"`, `$v"a"`,
}

// TestWords: the value of a word is what a real nginx makes of it.
func TestWords(t *testing.T) {
	dir := t.TempDir()
	var content strings.Builder
	for i, w := range words {
		fmt.Fprintf(&content, "location = /%d { return 200 %s; }\n", i, w)
	}
	text := strings.NewReplacer("DIR", dir, "CONTENT", content.String()).Replace(skeleton)
	get := start(t, dir, text)
	root, err := Parse("nginx.conf", text)
	if err != nil {
		t.Fatal(err)
	}
	server := root.Items[len(root.Items)-1].Block.Items[6]
	expand := strings.NewReplacer("${v}", "V", "$v", "V", "${long_name}", "L")
	asked := 0
	for _, d := range server.Block.Items {
		if d.Name() != "location" {
			continue
		}
		args := d.Block.Items[0].Args()
		if len(args) != 2 {
			t.Errorf("%s: %d arguments: %q", words[asked], len(args), args)
		} else if want, got := get(d.Arg(1)), expand.Replace(args[1]); got != want {
			t.Errorf("%s is %q, and nginx answers %q", words[asked], got, want)
		}
		asked++
	}
	if asked != len(words) || asked < 60 {
		t.Errorf("%d of %d words were compared, want 60 or more", asked, len(words))
	}
}

// start runs nginx with a configuration until the test ends, and returns a
// function that asks it for a path.
func start(t *testing.T, dir, text string) func(path string) string {
	t.Helper()
	cmd := exec.Command(program, "-p", dir, "-c", write(t, dir, "nginx.conf", text), "-e", filepath.Join(dir, "error.log"))
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	client := &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(dir, "s"))
		}}}
	t.Cleanup(client.CloseIdleConnections)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if c, err := net.Dial("unix", filepath.Join(dir, "s")); err == nil {
			c.Close()
			break
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx: %v\n%s", err, &out)
		case <-time.After(2 * time.Millisecond):
		}
	}
	return func(path string) string {
		resp, err := client.Get("http://nginx" + path)
		if err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %s %v", path, resp.Status, err)
		}
		return string(body)
	}
}

// What nginx does with a text.
const (
	accepted = "accepted" // it runs with it
	refused  = "refused"  // by its parser
	unknown  = "unknown"  // its parser accepts it, but a module refuses a directive
)

// texts are contents of a server block, and what nginx does with them.
var texts = map[string]struct{ text, want string }{
	"empty":                               {"", accepted},
	"comment":                             {"# ; { } ' \"\n", accepted},
	"comment behind a semicolon":          {"set $a b;# c\n", accepted},
	"comment between words":               {"set # { ;\n$a #}\n b #'\n ;", accepted},
	"comment behind a quoted word":        {`set $a "b"# c` + "\n;", refused},
	"comment behind a quoted word, apart": {`set $a "b" # c` + "\n;", accepted},
	"comment behind a brace":              {"location / {# c }\n}", accepted},
	"number sign in a word":               {"set $a b#c;", accepted},
	"CRLF":                                {"set $a b;\r\nset $c\r\nd;\r\n", accepted},
	"CR only":                             {"set $a b;\rset $c\rd;\r", accepted},
	"form feed":                           {"set\f$a b;", unknown},
	"byte order mark":                     {"\xef\xbb\xbfset $a b;", unknown},
	"byte order mark as a word":           {"map_hash_bucket_size 64;", unknown}, // of http only
	"NUL in a word":                       {"set $a \"b\x00c\";", accepted},
	"no semicolon":                        {"set $a b", refused}, // the brace becomes a word's end
	"no semicolon, brace apart":           {"set $a b }", refused},
	"quote without end":                   {`set $a "b;`, refused},
	"single quote without end":            {`set $a 'b;`, refused},
	"quote without end, closed later":     {"set $a \"b;\nset $v d\";", accepted},
	"quote in the middle without end":     {`set $a b"c;`, accepted},
	"word behind a quote":                 {`set $a "b"c;`, refused},
	"quote behind a quote":                {`set $a "b"'c';`, refused},
	"brace behind a quote":                {`location "/"{ }`, accepted},
	"closing brace behind a quote":        {`set $a "b"}`, refused},
	"parenthesis behind a quote":          {`if ($v = "b"){ }`, accepted},
	"word behind the parenthesis":         {`if ($v = "b")c { }`, unknown},
	"if":                                  {`if ($v ~ "^a{2}$") { return 204; }`, accepted},
	"if, a brace outside of quotes":       {`if ($v ~ ^a{2}$) { return 204; } }`, unknown},
	"if, braces escaped":                  {`if ($v ~ ^a\{2\}$) { return 204; }`, accepted},
	"if, a closing brace in a word":       {`if ($v ~ ^a}$) { return 204; }`, accepted},
	"variable with braces":                {"set $a ${v}b;", accepted},
	"variable with braces, without end":   {"set $a ${v;", unknown},
	"dollar, escaped":                     {`set $a \${v};}`, unknown}, // "{" ends the word
	"dollar, two braces":                  {"set $a ${{v};", unknown},
	"brace behind a variable":             {"set $a $v{b;}", unknown},
	"location without a space":            {"location /a{return 204;}", accepted},
	"location, expression with braces":    {`location ~ "^/[a-z]{2,3}$" { }`, accepted},
	"location, expression unquoted":       {`location ~ ^/[a-z]{2,3}$ { } }`, unknown},
	"one line":                            {"location /a{set $a b;}location /b{}", accepted},
	"semicolon alone":                     {";", refused},
	"two semicolons":                      {"set $a b;;", refused},
	"semicolon behind a block":            {"location / { };", refused},
	"brace alone":                         {"{ }", refused},
	"brace too many":                      {"}", refused},
	"two braces too many":                 {"} } }", refused},
	"brace missing":                       {"location / {", refused},
	"block without a name":                {"{", refused},
	"quoted name":                         {`"set" $a b;`, accepted},
	"escaped name":                        {`\set $a b;`, unknown},
	"empty name":                          {`"" a;`, unknown},
	"backslash before a line feed":        {"set $a b\\\nc;", accepted},
	"backslash before a semicolon":        {"set $a b\\;\n", refused},
	"backslash before the closing quote":  {`set $a "b\";`, refused},
	"word on many lines":                  {"set $a 'b\n\n# no comment; { }\n c';", accepted},
	"map in a server":                     {"map $v $w { a b; }", unknown},
	"types":                               {"types { text/css css; 'a;b' \"c{\"; }", accepted},
	"map":                                 {"} map $arg_a $w { default 1; '' 2; ~^a{2}$ 3; } server {", refused}, // "{" ends the word
	"map, quoted":                         {"} map $arg_a $w { default 1; '' 2; '~^a{2}$' ';'; } server {", accepted},
	"map with a block":                    {"} map $arg_a $w { a { } } server {", refused},
	"geo":                                 {"} geo $w { default 0; 10.0.0.0/8 \"{\"; } server {", accepted},
	"geo with a block":                    {"} geo $w { a { } } server {", refused},
	"split clients":                       {"} split_clients $arg_a $w { 50% a; * '}'; } server {", accepted},
	"split with a block":                  {"} split_clients $arg_a $w { a { } } server {", refused},
	"charset map, block":                  {"} charset_map koi8-r utf-8 { a { } } server {", refused},
	"upstream with a block":               {"} upstream u { a { } } server {", unknown},
	"types with a block":                  {"types { a { } }", refused},
	"word of 4095 bytes":                  {"set $a " + strings.Repeat("b", 4095) + ";", accepted},
	"word of 4096 bytes":                  {"set $a " + strings.Repeat("b", 4096) + ";", refused},
	"word of 4095 bytes and a space":      {"set $a " + strings.Repeat("b", 4095) + " ;", refused},
	"word of 4094 bytes and a space":      {"set $a " + strings.Repeat("b", 4094) + " ;", accepted},
	"quoted word of 4094 bytes":           {"set $a '" + strings.Repeat("b", 4094) + "';", accepted},
	"quoted word of 4095 bytes":           {"set $a '" + strings.Repeat("b", 4095) + "';", refused},
	"quoted word of 4094 bytes, space":    {"set $a '" + strings.Repeat("b", 4094) + "' ;", refused},
	"quoted word of 4093 bytes, space":    {"set $a '" + strings.Repeat("b", 4093) + "' ;", accepted},
	"quoted, parenthesis, 4094":           {"if ($v = '" + strings.Repeat("b", 4094) + "') { }", accepted},
	"comment of 4095 bytes":               {"#" + strings.Repeat("b", 4094) + "\n", accepted},
	"comment of 4096 bytes":               {"#" + strings.Repeat("b", 4095) + "\n", refused},
	"many spaces":                         {"set" + strings.Repeat(" ", 9000) + "$a b;", accepted},
	"include without a file":              {"include none.conf;", unknown},
	"include of a pattern without files":  {"include none/*.conf;", accepted},
}

// bySyntax are the complaints of nginx's parser, as opposed to its modules'.
var bySyntax = regexp.MustCompile(`unexpected "|unexpected end of|too long parameter`)

// noEnd is the one problem that is reported at the beginning of a word; nginx
// reports the end of the file.
const noEnd = "a quoted word has no end"

// TestTexts: Parse refuses what nginx's parser refuses, and nothing else; what
// it accepts is printed to the byte. Both report the same line.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	if len(texts) < 60 {
		t.Errorf("%d texts, want 60 or more", len(texts))
	}
	for name, c := range texts {
		text := strings.NewReplacer("DIR", dir, "CONTENT", c.text).Replace(skeleton)
		path := write(t, dir, "nginx.conf", text)
		out, err := exec.Command(program, "-t", "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log")).CombinedOutput()
		got := accepted
		if err != nil && bySyntax.Match(out) {
			got = refused
		} else if err != nil {
			got = unknown
		}
		root, err := Parse(path, text)
		var syntax *SyntaxError
		switch {
		case got != c.want:
			t.Errorf("%s: nginx: %s, want %s: %s", name, got, c.want, out)
		case (got == refused) != (err != nil):
			t.Errorf("%s: nginx: %s, Parse: %v\n%s", name, got, err, out)
		case err != nil && !errors.As(err, &syntax):
			t.Errorf("%s: %v is a %T", name, err, err)
		case err != nil && syntax.Problem != noEnd && !bytes.Contains(out, fmt.Appendf(nil, " in %s:%d\n", syntax.File, syntax.Line)):
			t.Errorf("%s: %v\n%s", name, err, out)
		case err == nil && root.String() != text:
			t.Errorf("%s: printed\n%s\nwant\n%s", name, root, text)
		}
	}
}

// disk are the files of a folder.
type disk struct{}

func (disk) Read(path string) ([]byte, error)      { return os.ReadFile(path) }
func (disk) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

// TestIncludes: Load reads the files that nginx reads, in the same order, and a
// dump of nginx -T gives the same configuration.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	main := write(t, dir, "conf/nginx.conf", strings.NewReplacer("DIR", dir, "CONTENT", "include a.conf; include sub/[!x]*.conf; include */x.inc; include ./a.conf; include sub/.h*; include none/*;").Replace(skeleton))
	write(t, dir, "conf/a.conf", "set $a 'b\\'\n';\ninclude deep/er.conf; # the last")
	write(t, dir, "conf/deep/er.conf", "\r\n")
	for _, name := range []string{"sub/b.conf", "sub/a b.conf", "sub/x.conf", "sub/.hidden.conf", "sub/B.conf", "s/x.inc", "s-a/x.inc", ".s/x.inc", "sub/c.other"} {
		write(t, dir, "conf/"+name, "# "+name+"\nset $c \"}\";")
	}
	out, err := exec.Command(program, "-T", "-q", "-p", dir, "-c", main, "-e", filepath.Join(dir, "error.log")).Output()
	if err != nil {
		t.Fatal(err)
	}
	dump := SplitDump(string(out))
	conf, err := Load(main, disk{})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range dump {
		want = append(want, f.Path+"\n"+f.Text)
	}
	for _, f := range conf.Files {
		got = append(got, f.Path+"\n"+f.Text)
	}
	if !slices.Equal(got, want) || len(got) != 9 {
		t.Errorf("%d files\n%s\nnginx read\n%s", len(got), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, err := dump.Config()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := conf.Flat(), again.Flat(); a != b || !strings.Contains(a, "# s-a/x.inc\n") {
		t.Errorf("from the disk\n%s\nfrom the dump\n%s", a, b)
	}
	flat := write(t, dir, "conf/flat.conf", conf.Flat())
	if out, err := exec.Command(program, "-t", "-q", "-p", dir, "-c", flat, "-e", filepath.Join(dir, "error.log")).CombinedOutput(); err != nil {
		t.Errorf("nginx refuses the flat configuration: %s", out)
	}
}
