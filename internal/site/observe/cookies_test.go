package observe

import (
	"slices"
	"strings"
	"testing"
)

func TestCookiesIn(t *testing.T) {
	log := strings.Join([]string{
		"time:1\turi:/\tcookie:session=old\tx:1",
		"time:2\turi:/\tcookie:-",
		`127.0.0.1 - - [x] "GET / HTTP/1.1" 200 5 "-" "cookie:forged"`,
		"time:3\turi:/\tcookie:session=new; theme=\\x22dark\\x22",
		"time:4\turi:/\tcookie:session=old",
		"time:5\turi:/\tcookie:a\\x0Ab",
		"time:6\turi:/\tcookie:", "",
	}, "\n")
	want := []string{"session=old", `session=new; theme="dark"`}
	if got := cookiesIn([]byte(log)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzCookiesIn(f *testing.F) {
	f.Add([]byte("a\tcookie:x=1\tb:2\n\tcookie:\\x0a\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, c := range cookiesIn(log) {
			if strings.ContainsAny(c, "\r\n\x00") {
				t.Errorf("%q would end a header", c)
			}
		}
	})
}
