package nginxconf

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// fallback is the named location that asks the app for what is not on disk.
const fallback = "@iikanji_app"

var expiresForm = regexp.MustCompile(`^([0-9]+[smhd]|max|-1|epoch|off)$`)

// editStatic serves a location's files from disk. What is not there is asked
// of the app, by a copy of "location /": nothing that answered before stops answering.
func editStatic(c *conf, args map[string]string) (string, []iikanji.Promise, error) {
	loc, err := want(args, "path")
	if err != nil {
		return "", nil, err
	}
	root, err := want(args, "root")
	if err != nil {
		return "", nil, err
	}
	if !strings.HasPrefix(loc, "/") || !filepath.IsAbs(root) {
		return "", nil, fmt.Errorf("path %q and root %q: want absolute paths", loc, root)
	}
	if !strings.HasSuffix(loc, "/") {
		loc += "/" // a folder: "/assets" must not take "/assets-old"
	}
	if loc == "/" {
		return "", nil, fmt.Errorf("path %q: everything is the app's; want a folder", args["path"])
	}
	expires := args["expires"]
	if expires != "" && !expiresForm.MatchString(expires) {
		return "", nil, fmt.Errorf("expires %q: want a time, as 1d or max", expires)
	}
	servers := c.find("location", "http", "server")
	app := -1
	for i, l := range servers {
		switch {
		case len(l.args()) == 1 && l.arg(0) == "/":
			app = i
		case len(l.args()) <= 2 && l.has(loc) && !l.has("~") && !l.has("~*"):
			if r, f := c.get(l.directive, "root"), c.get(l.directive, "try_files"); len(r) == 1 && len(f) == 1 && r[0].arg(0) == root && f[0].has(fallback) {
				return "", nil, change.ErrNothing
			}
			return "", nil, fmt.Errorf("there is a location %s already", loc)
		}
	}
	if app < 0 || len(c.find("server", "http")) != 1 {
		return "", nil, fmt.Errorf("want one server with a location / that asks the app")
	}
	if err := addStatic(c, servers[app], loc, root, expires); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("serve %s from files in %s, by the app where there is none", loc, root), nil, nil
}

func addStatic(c *conf, app place, loc, root, expires string) error {
	server := app.around[len(app.around)-1]
	static := newBlock("location", loc).put(newDirective("root", root), newDirective("try_files", "$uri", fallback))
	if expires != "" {
		static.put(newDirective("expires", expires))
	}
	named := true
	for _, l := range c.get(server, "location") {
		named = named && l.arg(0) != fallback
	}
	if named {
		copy := app.clone()
		copy.setArgs(fallback)
		for _, d := range copy.body.items {
			if p := strings.TrimPrefix(d.arg(0), "http://"); d.name() == "proxy_pass" && strings.Contains(p, "/") {
				return fmt.Errorf("proxy_pass %s has a path, which a named location cannot have", d.arg(0))
			}
		}
		server.add(copy)
	}
	server.add(static)
	return nil
}
