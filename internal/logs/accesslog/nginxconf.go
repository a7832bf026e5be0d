package accesslog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// An NginxLog is the access logs of an nginx configuration.
type NginxLog struct {
	Formats []NamedFormat     // the log_format directives, in order
	Logs    map[string]string // path of an access_log → name of its format
	// Routes are the locations for one path, and those whose files nginx serves itself. A
	// location that passes requests on says nothing of the routes behind it.
	Routes []Pattern
}

// A NamedFormat is one log_format.
type NamedFormat struct{ Name, Text string }

// ReadNginxConf reads the log_format and access_log directives of a
// configuration, and follows its includes through read, which returns the texts
// of the files that a pattern matches. The file may also be the output of
// nginx -T. A text that nginx could not parse is a *nginx.SyntaxError.
func ReadNginxConf(path string, read func(pattern string) ([]string, error)) (*NginxLog, error) {
	texts, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	n := &nginxReader{dir: filepath.Dir(path), read: read, log: &NginxLog{Logs: map[string]string{}}}
	if err := n.texts(path, texts, 0); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if len(n.log.Formats) == 0 && len(n.log.Logs) == 0 {
		return nil, fmt.Errorf("reading the configuration %s: it has neither a log_format nor an access_log", path)
	}
	n.log.Formats = append(n.log.Formats, NamedFormat{"combined", nginxCombined})
	return n.log, nil
}

// nginxCombined is the text of nginx's default format.
const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

type nginxReader struct {
	dir   string
	read  func(pattern string) ([]string, error)
	log   *NginxLog
	files int // read so far
}

// Limits of includes: how deep they are followed, and how many files are read
// together.
const (
	maxInclude = 8
	maxConfigs = 1000
)

// texts reads the directives of the files that an include's pattern, or the
// main file's path, names.
func (n *nginxReader) texts(name string, texts []string, depth int) error {
	for _, t := range texts {
		if n.files++; n.files > maxConfigs {
			return fmt.Errorf("%s: more than %d files are included", name, maxConfigs)
		}
		root, err := nginx.Parse(name, t)
		if err != nil {
			return err
		}
		if err := n.block(root, depth); err != nil {
			return err
		}
	}
	return nil
}

// block reads the directives of a block and of those inside: what they are
// nested in does not matter.
func (n *nginxReader) block(b *nginx.Block, depth int) error {
	for _, d := range b.Items {
		var err error
		if d.Block != nil {
			n.location(d)
			err = n.block(d.Block, depth)
		} else if args := d.Args(); len(args) > 0 {
			err = n.directive(d.Name(), args, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filesOf are directives of a location that serves files itself; one with a directive of
// the kind proxy_pass does not.
var filesOf = []string{"root", "alias", "try_files", "expires", "gzip_static", "add_header"}

// location adds the route of a location: its path, or all files below it.
func (n *nginxReader) location(d *nginx.Directive) {
	args := d.Args()
	if d.Name() != "location" || len(args) == 0 {
		return
	}
	path := args[len(args)-1]
	exact := len(args) == 2 && args[0] == "="
	prefix := len(args) == 1 || len(args) == 2 && args[0] == "^~"
	switch {
	case exact && strings.HasPrefix(path, "/"):
	case prefix && len(path) > 2 && strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/") && servesFiles(d.Block):
		path += "*file"
	default:
		return
	}
	if p, err := Route(path); err == nil {
		n.log.Routes = append(n.log.Routes, p)
	}
}

func servesFiles(b *nginx.Block) bool {
	files := false
	for _, d := range b.Items {
		if strings.HasSuffix(d.Name(), "_pass") || d.Name() == "return" || d.Name() == "rewrite" {
			return false
		}
		files = files || slices.Contains(filesOf, d.Name())
	}
	return files
}

func (n *nginxReader) directive(name string, args []string, depth int) error {
	switch name {
	case "log_format":
		rest := args[1:]
		if len(rest) > 0 && strings.HasPrefix(rest[0], "escape=") {
			rest = rest[1:]
		}
		n.log.Formats = append(n.log.Formats, NamedFormat{args[0], strings.Join(rest, "")})
	case "access_log":
		format := "combined"
		if len(args) > 1 && !strings.Contains(args[1], "=") {
			format = args[1]
		}
		if args[0] != "off" {
			n.log.Logs[args[0]] = format
		}
	case "include":
		pattern := args[0]
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(n.dir, pattern)
		}
		texts, err := n.read(pattern)
		if err != nil || depth >= maxInclude {
			return nil //nolint:nilerr // mime.types and modules need not be readable
		}
		return n.texts(pattern, texts, depth+1)
	}
	return nil
}

// candidates are the formats that a log may have, the most probable first: the
// format of its access_log, the formats of other logs, all other formats.
func (n *NginxLog) candidates(name string) (all []NamedFormat) {
	seen := map[string]bool{}
	add := func(format string) {
		for _, f := range n.Formats {
			if f.Name == format && !seen[format] {
				seen[format] = true
				all = append(all, f)
			}
		}
	}
	base := filepath.Base(name)
	for _, match := range []func(path string) bool{
		func(path string) bool { return path == name },
		func(path string) bool { return strings.HasPrefix(base, filepath.Base(path)) }, // rotated: access.log.1.gz
		func(string) bool { return true },
	} {
		for _, path := range sortedKeys(n.Logs) {
			if match(path) {
				add(n.Logs[path])
			}
		}
	}
	for _, f := range n.Formats {
		add(f.Name)
	}
	return all
}
