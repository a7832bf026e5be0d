package bench

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of a jar, as in browsers.
const (
	maxCookies    = 180
	maxCookieSize = 4096
)

// A cookie is identified by name and path: a jar belongs to one host.
type cookie struct {
	name, value, path string
	expires           time.Time // zero for a session cookie
}

// A jar holds the cookies of one browser for one host (RFC 6265). Readers use a
// snapshot, so a request needs no lock; writers replace the snapshot.
// Note: the Secure attribute is ignored. A target that sets it on plain HTTP
// has TLS in front of it in production, which the browser simulates.
type jar struct {
	host string
	list atomic.Pointer[[]cookie] // longest path first, the order of sending
}

func (j *jar) cookies() []cookie {
	if p := j.list.Load(); p != nil {
		return *p
	}
	return nil
}

// live reports whether the cookie is sent to path at this time.
func (c *cookie) live(path string, now func() time.Time) bool {
	return pathMatch(c.path, path) && (c.expires.IsZero() || now().Before(c.expires))
}

// pathMatch implements RFC 6265, 5.1.4. path may have a query.
func pathMatch(dir, path string) bool {
	if !strings.HasPrefix(path, dir) {
		return false
	}
	return len(path) == len(dir) || dir[len(dir)-1] == '/' || path[len(dir)] == '/' || path[len(dir)] == '?'
}

// write appends the Cookie line of a request, if a cookie applies.
func (j *jar) write(out []byte, path string) []byte {
	list := j.cookies()
	sep := "Cookie: "
	for i := range list {
		if c := &list[i]; c.live(path, time.Now) {
			out = append(out, sep...)
			out = append(out, c.name...)
			out = append(out, '=')
			out = append(out, c.value...)
			sep = "; "
		}
	}
	if sep == "; " {
		out = append(out, "\r\n"...)
	}
	return out
}

// get returns the value of a live cookie of any path.
func (j *jar) get(name string) (string, bool) {
	for _, c := range j.cookies() {
		if c.name == name && c.live(c.path, time.Now) {
			return c.value, true
		}
	}
	return "", false
}

// put adds or replaces a cookie. An expired one is removed.
func (j *jar) put(c cookie, now time.Time) {
	for {
		old := j.list.Load()
		list := j.cookies()
		i := slices.IndexFunc(list, func(o cookie) bool { return o.name == c.name && o.path == c.path })
		gone := !c.expires.IsZero() && !now.Before(c.expires)
		if i < 0 && gone || i >= 0 && list[i] == c {
			return
		}
		list = slices.Clone(list)
		switch {
		case gone:
			list = slices.Delete(list, i, i+1)
		case i >= 0:
			list[i] = c
		default:
			if len(list) == maxCookies {
				list = list[1:]
			}
			list = append(list, c)
			slices.SortStableFunc(list, func(a, b cookie) int { return cmp.Compare(len(b.path), len(a.path)) })
		}
		if j.list.CompareAndSwap(old, &list) {
			return
		}
	}
}

func (j *jar) clear() { j.list.Store(nil) }

// parseSetCookie reads one Set-Cookie value (RFC 6265, 5.2 and 5.3) of an answer
// to a request for path. ok is false when a browser would reject it.
func (j *jar) parseSetCookie(line, path string, now time.Time) (c cookie, ok bool) {
	pair, attrs, _ := strings.Cut(line, ";")
	name, value, found := strings.Cut(pair, "=")
	name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	if !found || name == "" || len(name)+len(value) > maxCookieSize || strings.ContainsFunc(name+value, isControl) {
		return cookie{}, false
	}
	c = cookie{name: name, value: value, path: defaultPath(path)}
	var byAge bool
	for attrs != "" {
		var attr string
		attr, attrs, _ = strings.Cut(attrs, ";")
		key, val, _ := strings.Cut(attr, "=")
		val = strings.Trim(val, " \t")
		switch strings.ToLower(strings.Trim(key, " \t")) {
		case "path":
			if strings.HasPrefix(val, "/") {
				c.path = val
			}
		case "domain":
			if !domainMatch(j.host, val) {
				return cookie{}, false
			}
		case "max-age":
			if secs, err := strconv.ParseInt(val, 10, 64); err == nil {
				c.expires, byAge = now.Add(time.Duration(min(max(secs, 0), maxCookieAge))*time.Second), true
			}
		case "expires":
			if t, ok := cookieDate(val); ok && !byAge {
				c.expires = t
			}
		}
	}
	return c, true
}

// maxCookieAge is 400 days in seconds, the limit of browsers.
const maxCookieAge = 400 * 24 * 60 * 60

func isControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }

// defaultPath implements RFC 6265, 5.1.4: the path up to, not including, the last slash.
func defaultPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// domainMatch reports whether a host may set a cookie for a domain. An empty
// domain means the host itself.
func domainMatch(host, domain string) bool {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	host = strings.ToLower(host)
	if domain == "" || domain == host {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err != nil && strings.HasSuffix(host, "."+domain)
}

// cookieDate reads the date formats that servers write.
func cookieDate(s string) (time.Time, bool) {
	if t, err := http.ParseTime(s); err == nil {
		return t, true
	}
	for _, form := range []string{"Mon, 02-Jan-2006 15:04:05 MST", "Mon, 02-Jan-06 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 MST"} {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
