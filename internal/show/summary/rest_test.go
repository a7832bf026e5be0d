package summary

import (
	"testing"

	"github.com/iikanji/iikanji"
)

func TestWithoutFolder(t *testing.T) {
	for _, c := range [][2]string{
		{"--- a/var/lib/x/conf/n.conf\n+++ b/var/lib/x/conf/n.conf\n+ root /var/lib/x/webapp;", "--- a/conf/n.conf\n+++ b/conf/n.conf\n+ root webapp;"},
		{"/etc/nginx/nginx.conf", "/etc/nginx/nginx.conf"},
	} {
		if got := withoutFolder(c[0], "/var/lib/x/"); got != c[1] {
			t.Errorf("%q, want %q", got, c[1])
		}
	}
}

func TestWithoutValues(t *testing.T) {
	for text, want := range map[string]string{
		"5× SELECT a FROM t WHERE b = 'se''cret' AND c = 'x\\'y': 3 rows": "5× SELECT a FROM t WHERE b = '?' AND c = '?': 3 rows",
		"SELECT a FROM t WHERE b = 'cut off…":                             "SELECT a FROM t WHERE b = '?'",
	} {
		if got := withoutValues([]iikanji.Evidence{{Source: "digest 01", Text: text}})[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	same := "the app's own code isn't quoted"
	if got := withoutValues([]iikanji.Evidence{{Source: "status", Text: same}})[0].Text; got != same {
		t.Errorf("%q", got)
	}
}
