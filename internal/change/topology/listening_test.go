package topology

import (
	"testing"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// TestListenVariable: the variable of an app's address is found by its value and by where the
// source has it, in several languages; one that decides another address is not, and of two none.
func TestListenVariable(t *testing.T) {
	for _, c := range []struct {
		name, source string
		env, taken   map[string]string
		want         string
	}{
		{"host and port apart", `e.Logger.Fatal(e.Start(net.JoinHostPort(os.Getenv("SERVER_APP_HOST"), env("SERVER_APP_PORT", "3000"))))`,
			map[string]string{"SERVER_APP_HOST": "127.0.0.1", "MYSQL_HOST": "127.0.0.1"}, map[string]string{"MYSQL_HOST": "10.0.0.3"}, "SERVER_APP_HOST=0.0.0.0"},
		{"both in one", `addr := os.Getenv("ADDR"); http.ListenAndServe(addr, nil)`, map[string]string{"ADDR": "localhost:3000"}, nil, "ADDR=0.0.0.0:3000"},
		{"not set", `http.ListenAndServe(getEnv("LISTEN", "127.0.0.1:3000"), nil)`, nil, nil, "LISTEN=0.0.0.0:3000"},
		{"not set, in JavaScript", `server.listen(process.env["LISTEN"] || "127.0.0.1:3000")`, nil, nil, "LISTEN=0.0.0.0:3000"},
		{"a port of its own", `server.listen(Number(process.env.SERVER_APP_PORT || 3000), process.env.SERVER_APP_HOST);`, map[string]string{"SERVER_APP_HOST": "::1"}, nil, "SERVER_APP_HOST=0.0.0.0"},
		{"of a database", `db := open(os.Getenv("DB_HOST"))`, map[string]string{"DB_HOST": "127.0.0.1"}, nil, ""},
		{"of another server", `ask(os.Getenv("SEARCH"))`, map[string]string{"SEARCH": "127.0.0.1:9200"}, nil, ""},
		{"named, and not in the source", `main()`, map[string]string{"SERVER_HOST": "127.0.0.1"}, nil, ""},
		{"two", `run(os.Getenv("APP_HOST"), os.Getenv("BIND_HOST"))`, map[string]string{"APP_HOST": "127.0.0.1", "BIND_HOST": "127.0.0.1"}, nil, ""},
		{"a constant", `http.ListenAndServe("127.0.0.1:3000", nil)`, nil, nil, ""},
		{"for all hosts", `listen(os.Getenv("BIND"))`, map[string]string{"BIND": "0.0.0.0"}, nil, ""},
	} {
		name, value := listenVariable([]settings.File{{Path: "main", Text: c.source}}, c.env, "3000", c.taken)
		if got := name + "=" + value; got != c.want && (c.want != "" || name != "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWithLine: a setting of a drop-in gets its value once, and others stay.
func TestWithLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "A=2\n",
		"B=1\n":                        "B=1\nA=2\n",
		"A=1\nB=1\n":                   "A=2\nB=1\n",
		"A=1\nB=1\nA=3\n":              "A=2\nB=1\n",
		"AA=1\n":                       "AA=1\nA=2\n",
		"[Service]\nEnvironment=A=1\n": "[Service]\nEnvironment=A=1\nA=2\n",
	} {
		if got := withLine(text, "A=", "2"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
