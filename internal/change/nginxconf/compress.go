package nginxconf

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

// gzipTypes are what compresses well; nginx's own default is text/html alone.
const gzipTypes = "text/plain text/css text/javascript application/javascript application/json application/xml image/svg+xml"

var mediaType = regexp.MustCompile(`^([a-z0-9.+-]+/[a-z0-9.+-]+ ?)+$`)

// editGzip compresses answers, also those of the app, at a level that costs
// little: 1 gives most of what 6 does for a third of the CPU. Where somebody
// has chosen, only what the remedy names is changed, and types are added.
func editGzip(t *task) error {
	if l := t.args["level"]; l != "" {
		if _, err := t.number("level", 1, 9); err != nil {
			return err
		}
	}
	if t.args["min"] != "" {
		if _, err := t.number("min", 0, 1_000_000); err != nil {
			return err
		}
	}
	types := t.arg("types", gzipTypes)
	if !mediaType.MatchString(types) {
		return fmt.Errorf("types %q: want media types", types)
	}
	http, err := t.http()
	if err != nil {
		return err
	}
	around := []*directive{http} // a location that says "off" has its reason
	t.holds(around, "gzip", "on")
	for _, d := range []struct{ name, value, arg string }{
		{"gzip_comp_level", "1", "level"}, {"gzip_min_length", "256", "min"}, {"gzip_proxied", "any", ""}, {"gzip_vary", "on", ""},
	} {
		if v := t.args[d.arg]; d.arg != "" && v != "" {
			t.holds(around, d.name, v)
		} else if found, _ := t.effective(around, d.name); len(found) == 0 {
			http.add(newDirective(d.name, d.value))
		}
	}
	t.gzipTypes(http, strings.Fields(types))
	t.says = "compress answers of " + t.value(around, "gzip_min_length") + " bytes and more at level " + t.value(around, "gzip_comp_level")
	return nil
}

// gzipTypes adds types to those that are compressed.
func (t *task) gzipTypes(http *directive, types []string) {
	found := t.get(http, "gzip_types")
	if len(found) == 0 {
		http.add(newDirective("gzip_types", types...))
		return
	}
	all := found[0].args()
	for _, w := range types {
		if !slices.Contains(all, w) && !slices.Contains(all, "*") && w != "text/html" {
			all = append(all, w)
		}
	}
	found[0].setArgs(all...)
}

// Bounds of what is compressed ahead: a plan holds the copies.
const (
	maxCompressed      = 500
	maxCompressedBytes = 32 << 20
)

// editGzipStatic makes compressed copies beside public files, at the best
// level, once, and has nginx send them.
func editGzipStatic(t *task) error {
	min := 512
	if t.args["min"] != "" {
		n, err := t.number("min", 0, 1_000_000)
		if err != nil {
			return err
		}
		min = n
	}
	root, err := t.publicRoot()
	if err != nil {
		return err
	}
	path := t.args["path"]
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	if path == "/" {
		path = everything
	}
	s, err := t.spot(path)
	if err != nil {
		return err
	}
	if t.passes(s.last()) || t.value(s.chain, "root") != root || s.want.how == "=" {
		return fmt.Errorf("path %q: nginx does not serve it from %s yet", t.args["path"], root)
	}
	if err := t.compressFiles(filepath.Join(root, s.want.what), min); err != nil {
		return fmt.Errorf("path %q: %w", t.args["path"], err)
	}
	t.holds(s.chain, "gzip_static", "on")
	if t.value(s.chain, "gzip_vary") != "on" {
		t.holds(s.chain, "gzip_vary", "on")
	}
	t.says = fmt.Sprintf("send %s compressed ahead (%d copies beside the files; make them again when the files change)", s.want.what, len(t.files))
	return nil
}

// compressFiles plans a copy beside each file that gets smaller by a tenth.
func (t *task) compressFiles(dir string, min int) error {
	total, ours := 0, map[string]bool{}
	for ending, kind := range mediaTypes {
		ours[ending] = strings.HasPrefix(kind, "text/") || strings.Contains(gzipTypes, kind) || ending == "wasm" || ending == "map"
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || t.ctx.Err() != nil {
			return errors.Join(err, t.ctx.Err())
		}
		if !d.Type().IsRegular() || !ours[strings.TrimPrefix(filepath.Ext(path), ".")] {
			return nil
		}
		edit, err := compressed(path, min)
		if err != nil || edit == nil {
			return err
		}
		t.files = append(t.files, *edit)
		if total += len(edit.New); len(t.files) > maxCompressed || total > maxCompressedBytes {
			return fmt.Errorf("more than %d files or %d bytes would be compressed", maxCompressed, maxCompressedBytes)
		}
		return nil
	})
}

// compressed is the copy that a file lacks, or nil when it needs none or has it.
func compressed(path string, min int) (*change.Edit, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if len(text) < min || out.Len() > len(text)-len(text)/10 {
		return nil, nil
	}
	old, err := os.ReadFile(path + ".gz")
	switch {
	case os.IsNotExist(err):
		return &change.Edit{Path: path + ".gz", New: out.Bytes()}, nil
	case err != nil:
		return nil, err
	case expandsTo(old, text):
		return nil, nil
	}
	return &change.Edit{Path: path + ".gz", Old: old, New: out.Bytes()}, nil
}

// expandsTo says whether a compressed file holds a text.
func expandsTo(file, text []byte) bool {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(r, int64(len(text))+1))
	return err == nil && bytes.Equal(got, text)
}
