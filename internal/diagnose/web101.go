package diagnose

import (
	"fmt"
	urlpath "path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// viaApp is what a request for a file costs an app beyond what it costs the
// web server: a connection, a copy, the runtime. Seconds.
var viaApp = iikanji.Range{Lo: 50e-6, Hi: 400e-6}

var staticEndings = []string{".js", ".css", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".avif",
	".woff", ".woff2", ".ttf", ".html", ".txt", ".mp4", ".pdf"}

// web101 reports static files that every server block hands to the app.
func web101(v *view) []iikanji.Finding {
	http, ok := v.nginx()
	if !ok || v.blind(iikanji.Access) {
		return nil
	}
	f := iikanji.Finding{Code: "WEB101"}
	count, seconds := 0.0, 0.0
	for _, p := range v.in.Profiles {
		for _, r := range p.Rows {
			name, static := staticPath(r)
			if p.Source != iikanji.Access || !static {
				continue
			}
			at, proxied := handed(http, name)
			if !proxied {
				continue
			}
			count += float64(r.Count)
			if r.Web != nil {
				seconds += r.Web.Upstream.Seconds()
			}
			if len(f.Evidence) < 6 {
				f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s× %s goes to %s (%s)",
					people(float64(r.Count)), r.Key, at.Arg(0), place(at))})
			}
			if f.Where == "" {
				f.Where = r.Key
			}
		}
	}
	f.Claim = fmt.Sprintf("%s requests for static files go through the app", people(count))
	f.Gain = iikanji.Range{Lo: round(count * viaApp.Lo), Hi: round(max(count*viaApp.Hi, seconds))}
	f.Remedies = []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Says: "serve them from disk with try_files, and leave the rest to the app",
		Args: map[string]string{"act": "static files", "path": publicFolder(f.Where)}}}
	if count == 0 || !v.worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}

// staticPath is the path of a row that is a file: by its ending, or because
// the log's reader found it to be one of many files.
func staticPath(r iikanji.Row) (string, bool) {
	method, name, ok := strings.Cut(r.Key, " ")
	if !ok || method != "GET" {
		return "", false
	}
	return name, urlpath.Base(name) == ":file" || slices.Contains(staticEndings, strings.ToLower(urlpath.Ext(name)))
}

// handed says whether all servers that proxy anything hand a path to the app
// without looking on disk, and by which directive.
func handed(http iikanji.Directive, name string) (iikanji.Directive, bool) {
	var by iikanji.Directive
	for _, s := range servers(http) {
		if len(locations(s)) == 0 {
			continue
		}
		l, ok := match(s, name)
		if !ok {
			return by, false
		}
		pass := l.self().All("proxy_pass")
		if len(pass) == 0 || len(l.nearest("try_files")) > 0 || urlpath.Base(name) == ":file" && expressions(s) {
			return by, false
		}
		by = pass[0]
	}
	return by, by.Name != ""
}

// expressions says whether a server chooses by expressions: they may look at
// an ending that the log's reader has folded away.
func expressions(s level) bool {
	return slices.ContainsFunc(locations(s), func(l level) bool { return strings.HasPrefix(l.self().Arg(0), "~") })
}
