package bench

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

func TestParseSetCookie(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	j := &jar{host: "app.example.com"}
	good := func(line string, want cookie) {
		t.Helper()
		got, ok := j.parseSetCookie(line, "/api/auth?x=/y", now)
		if !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", line, got, ok, want)
		}
	}
	bad := func(line string) {
		t.Helper()
		if got, ok := j.parseSetCookie(line, "/", now); ok {
			t.Errorf("%q: taken as %+v", line, got)
		}
	}
	in := func(d time.Duration) time.Time { return now.Add(d) }
	good("a=b", cookie{"a", "b", "/api", time.Time{}})
	good(" a = b c ; Path=/", cookie{"a", "b c", "/", time.Time{}})
	good(`a="quoted"; path=/; HttpOnly; Secure; SameSite=Lax`, cookie{"a", `"quoted"`, "/", time.Time{}})
	good("a=; Path=/x; Path=/y", cookie{"a", "", "/y", time.Time{}})
	good("a=b=c; Path=relative", cookie{"a", "b=c", "/api", time.Time{}})
	good("a=b; Max-Age=60", cookie{"a", "b", "/api", in(time.Minute)})
	good("a=b; max-age=-1", cookie{"a", "b", "/api", now})
	good("a=b; Max-Age=99999999999", cookie{"a", "b", "/api", in(400 * 24 * time.Hour)})
	good("a=b; Max-Age=soon", cookie{"a", "b", "/api", time.Time{}})
	good("a=b; Expires=Sat, 21 Nov 2026 05:00:00 GMT", cookie{"a", "b", "/api", in(time.Hour)})
	good("a=b; Expires=Sat, 21-Nov-2026 05:00:00 GMT", cookie{"a", "b", "/api", in(time.Hour)})
	good("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", cookie{"a", "b", "/api", time.Unix(0, 0).UTC()})
	good("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", cookie{"a", "b", "/api", in(time.Minute)})
	good("a=b; Domain=.Example.com", cookie{"a", "b", "/api", time.Time{}})
	good("a=b; Domain=app.example.com", cookie{"a", "b", "/api", time.Time{}})
	bad("no pair")
	bad("=value")
	bad("a=b\x00c")
	bad("a=b; Domain=other.com")
	bad("a=b; Domain=le.com")
	bad("a=" + strings.Repeat("x", maxCookieSize))
	j.host = "127.0.0.1"
	bad("a=b; Domain=0.0.1")
}

func TestPathMatch(t *testing.T) {
	f := func(dir, path string, want bool) {
		t.Helper()
		if pathMatch(dir, path) != want {
			t.Errorf("%q for %q: %v", dir, path, !want)
		}
	}
	f("/", "/any/thing", true)
	f("/api", "/api", true)
	f("/api", "/api/x", true)
	f("/api", "/api?x", true)
	f("/api", "/apix", false)
	f("/api/", "/api", false)
	f("/api/", "/api/x", true)
}

// TestCookiesOverTheWire sets, replaces, expires and removes cookies at a real server.
func TestCookiesOverTheWire(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Header().Add("Set-Cookie", "session=one; Path=/; HttpOnly")
			w.Header().Add("Set-Cookie", "deep=x; Path=/api")
			w.Header().Add("Set-Cookie", "brief=y; Max-Age=600; Path=/")
		case "/short":
			w.Header().Add("Set-Cookie", "brief=y; Max-Age=1; Path=/")
		case "/again":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "two", Path: "/"})
		case "/out":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "", Path: "/", MaxAge: -1})
		}
		_, _ = w.Write([]byte(r.Header.Get("Cookie")))
	})
	b, ctx := browse(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/long", "")
	want(t, ctx, b, "/", "session=one; brief=y")
	want(t, ctx, b, "/api/x", "deep=x; session=one; brief=y")
	want(t, ctx, b, "/again", "session=one; brief=y")
	want(t, ctx, b, "/", "session=two; brief=y")
	want(t, ctx, b, "/short", "session=two; brief=y")
	if v, ok := b.Cookie("session"); v != "two" || !ok {
		t.Errorf("session is %q %v", v, ok)
	}
	time.Sleep(1100 * time.Millisecond)
	want(t, ctx, b, "/out", "session=two")
	want(t, ctx, b, "/", "")
	if v, ok := b.Cookie("session"); ok {
		t.Errorf("session is still %q", v)
	}
	b.SetCookie("mine", "z")
	want(t, ctx, b, "/api", "deep=x; mine=z")
	b.SetCookie("mine", "")
	want(t, ctx, b, "/", "")
	b.Forget()
	want(t, ctx, b, "/api", "")
}

// TestJarBounded: the jar stays bounded when a target sets more and more cookies.
func TestJarBounded(t *testing.T) {
	var j jar
	for i := range 10 * maxCookies {
		j.put(cookie{name: itoa(i), value: "x", path: "/"}, time.Now())
	}
	if n := len(j.cookies()); n != maxCookies {
		t.Errorf("%d cookies", n)
	}
	if v, ok := j.get(itoa(10*maxCookies - 1)); !ok {
		t.Errorf("the latest is gone: %q", v)
	}
}

func FuzzSetCookie(f *testing.F) {
	f.Add("a=b; Path=/; Max-Age=3; Expires=Sat, 21 Nov 2026 05:00:00 GMT; Domain=x", "/p")
	f.Fuzz(func(t *testing.T, line, path string) {
		j := &jar{host: "x"}
		now := time.Unix(1e9, 0)
		c, ok := j.parseSetCookie(line, "/"+path, now)
		if !ok {
			return
		}
		if c.name == "" || c.path == "" || c.path[0] != '/' || strings.ContainsAny(c.name+c.value, "\r\n\x00;") {
			t.Fatalf("%q became %+v", line, c)
		}
		j.put(c, now)
		line1 := string(j.write(nil, c.path))
		if strings.Count(line1, "\r\n") > 1 || strings.Count(line1, "\n") > 1 {
			t.Fatalf("%q is sent as %q", line, line1)
		}
	})
}
