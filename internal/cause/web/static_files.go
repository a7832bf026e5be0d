package web

import (
	"cmp"
	"fmt"
	urlpath "path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// viaApp is the cost of a file request at an app beyond that at the web server,
// in seconds: a connection, a copy, the runtime.
var viaApp = iikanji.Range{Lo: 50e-6, Hi: 400e-6}

var staticFiles = cause.Declare(cause.PerNginx, findStaticFiles,
	cause.Cause{Code: "WEB101", Title: "static files through the app", Of: iikanji.OfCPU, Relieves: cause.CPU | cause.Disk,
		Line:     "the app sends files that nginx could send from disk",
		Remedies: []cause.Way{cause.Plan("nginxconf", "static files", iikanji.RoleWeb), cause.Person}})

// findStaticFiles reports requests for files that go to the app although the file is on
// disk: an answer of the route was compared with the file of its URL. Files
// that the app generates or reads from a database are not reported.
func findStaticFiles(v *cause.View) []iikanji.Finding {
	http, ok := nginxHTTP(v)
	if !ok {
		return nil
	}
	answers := cause.FactsOf(v, fact.TopicAnswer)
	f := iikanji.Finding{Code: "WEB101"}
	count, alone, folders, same := 0.0, 0.0, map[string]float64{}, map[string]*sameFiles{}
	var by *nginx.Directive
	for _, r := range v.Access() {
		name, static := cause.StaticPath(r)
		a := answers[v.Self.Name+" "+r.Key]
		if !static || a.File == "" {
			continue
		}
		pass, proxied := handed(v, serving(v, http), name, a.URL)
		if !proxied {
			continue
		}
		by = pass
		count += float64(r.Count)
		alone += takes(r, a)
		folders[publicFolder(r.Key)] += float64(r.Count)
		addSame(same, r, a)
		if len(f.Evidence) < 6 {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s× %s goes to %s (%s); %s is equal to the file %s",
				cause.Number(float64(r.Count)), r.Key, pass.Arg(0), place(pass), a.URL, a.File)})
		}
		if f.Where == "" {
			f.Where = r.Key
		}
	}
	f.Claim = fmt.Sprintf("%s requests for static files go through the app", cause.Number(count))
	f.Gain = iikanji.Range{Lo: cause.Round(count * viaApp.Lo), Hi: cause.Round(max(count*viaApp.Hi, alone))}
	if count == 0 || !v.Worth(f.Gain) {
		return nil
	}
	f.Remedies = fromDisk(v, folders, same, by)
	return []iikanji.Finding{f}
}

// sameFiles are URLs of a folder that were answered with the files below one root, at
// their paths. They can be served from disk although the rest of the folder may be not
// public.
type sameFiles struct {
	root  string
	paths []string
}

// mostSame bounds the files of one remedy.
const mostSame = 20

// addSame adds a route that is one URL to the files of its folder.
func addSame(same map[string]*sameFiles, r iikanji.Row, a fact.Answer) {
	path, folder := pathOf(r.Key), publicFolder(r.Key)
	root, below := strings.CutSuffix(a.File, path)
	if cause.Folds(r.Key) || !below || root == "" || strings.Contains(path, ";") || path != pathOf("GET "+a.URL) {
		return
	}
	if same[folder] == nil {
		same[folder] = &sameFiles{root: root}
	}
	if s := same[folder]; s.root == root && len(s.paths) < mostSame {
		s.paths = append(s.paths, path)
	}
}

// takes is the time that the app works on the requests of a route, in seconds. It is
// computed from the time of the same request without other load: under load, requests
// also wait for each other, and files served from disk do not save that time.
func takes(r iikanji.Row, a fact.Answer) float64 {
	waited := r.Web.Upstream.Seconds()
	if a.Took == 0 {
		return waited
	}
	return min(waited, float64(r.Count)*a.Took.Seconds())
}

// fromDisk are the remedies for folders whose files a directive passes to the
// app: one for each folder, the folder with most requests first.
func fromDisk(v *cause.View, folders map[string]float64, same map[string]*sameFiles, by *nginx.Directive) []iikanji.Remedy {
	if by.Name() != "proxy_pass" {
		return []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "add a location for them with root and try_files, before the one with "+by.Name())}
	}
	var names []string
	for name := range folders {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := cmp.Compare(folders[b], folders[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var out []iikanji.Remedy
	for _, name := range names {
		what := "them"
		if len(names) > 1 {
			what = "those in " + name
		}
		args := map[string]string{"act": "static files", "path": name}
		if s := same[name]; s != nil {
			args["from"], args["same"] = s.root, strings.Join(s.paths, ";")
		}
		remedies := v.NginxConf("serve "+what+" from disk with try_files, and leave the rest to the app", args)
		if same[name] != nil {
			remedies = cause.Proven(remedies, iikanji.SameAsFile)
		}
		out = append(out, remedies...)
	}
	return out
}

// handed reports whether all of some servers pass a route to the app without
// looking on disk, and the directive. url is a requested one of the route.
func handed(v *cause.View, serving []nginx.Scope, route, url string) (by *nginx.Directive, ok bool) {
	for _, s := range serving {
		a, passes := passed(v, s, "GET "+url)
		if !passes || len(a.Files) > 0 || urlpath.Base(route) == ":file" && expressions(s) {
			return by, false
		}
		by = a.By
	}
	return by, by != nil
}

// expressions reports whether a server selects locations by regular
// expressions: they may match an extension that the reader of the log has
// folded.
func expressions(s nginx.Scope) bool {
	return slices.ContainsFunc(s.Locations(), func(l nginx.Scope) bool { return nginx.PatternOf(l.Last()).IsExpression() })
}
