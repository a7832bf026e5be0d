package nginxconf

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// gzipTypes are media types that compress well; nginx's own default is
// text/html alone.
const gzipTypes = "text/plain text/css text/javascript application/javascript application/json application/xml image/svg+xml"

var mediaType = regexp.MustCompile(`^([a-z0-9.+-]+/[a-z0-9.+-]+ ?)+$`)

// gzipAnswers compresses answers, also those of the app, at a level that costs
// little CPU: level 1 gives most of the effect of level 6 for a third of the
// CPU. Settings that are there change only if the remedy names them; types are
// added.
type gzipAnswers struct {
	Level *int   `arg:"level" range:"1,9" help:"1 to 9; 1 by default"`
	Types string `arg:"types" help:"media types, separated by spaces"`
	Min   *int   `arg:"min" range:"0,1000000" help:"from how many bytes on; 256 by default"`
}

// Validate is called by change.Decode.
func (a *gzipAnswers) Validate() error {
	if a.Types == "" {
		a.Types = gzipTypes
	}
	if !mediaType.MatchString(a.Types) {
		return fmt.Errorf("types %q: want media types", a.Types)
	}
	return nil
}

func (a *gzipAnswers) edit(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	around := []*nginx.Directive{http} // a location with "gzip off" keeps it
	t.Ensure(around, "gzip", "on")
	for _, d := range []struct {
		name, value string
		named       *int
	}{
		{"gzip_comp_level", "1", a.Level}, {"gzip_min_length", "256", a.Min}, {"gzip_proxied", "any", nil}, {"gzip_vary", "on", nil},
	} {
		if d.named != nil {
			t.Ensure(around, d.name, strconv.Itoa(*d.named))
		} else if found, _ := t.Effective(around, d.name); len(found) == 0 {
			http.Add(nginx.New(d.name, d.value))
		}
	}
	t.addGzipTypes(http, strings.Fields(a.Types))
	t.Says = "compress answers of " + t.Value(around, "gzip_min_length") + " bytes and more at level " + t.Value(around, "gzip_comp_level")
	return nil
}

// addGzipTypes adds types to those that are compressed.
func (t *task) addGzipTypes(http *nginx.Directive, types []string) {
	found := t.Get(http, "gzip_types")
	if len(found) == 0 {
		http.Add(nginx.New("gzip_types", types...))
		return
	}
	all := found[0].Args()
	for _, w := range types {
		if !slices.Contains(all, w) && !slices.Contains(all, "*") && w != "text/html" {
			all = append(all, w)
		}
	}
	found[0].SetArgs(all...)
}

// Limits of the compressed copies. A plan contains all of them.
const (
	maxCompressed      = 500
	maxCompressedBytes = 32 << 20
)

// gzipStatic makes compressed copies beside public files, at the best level,
// once, and has nginx send them.
type gzipStatic struct {
	Path   string `arg:"path,required" help:"a folder of URLs that nginx serves from disk already"`
	Min    int    `arg:"min" range:"0,1000000" default:"512" help:"from how many bytes on"`
	Root   string `arg:"root" help:"the folder on disk: the public folder of the app (the default) or one in it"`
	Server string `arg:"server" help:"server_name or listen address of a server block"`
}

func (a *gzipStatic) edit(t *task) error {
	root, err := t.publicRoot(a.Root)
	if err != nil {
		return err
	}
	s, err := t.Spot(folderPath(a.Path), a.Server)
	if err != nil {
		return err
	}
	if t.Passes(s.Last()) || t.Value(s.Chain, "root") != root || s.Want.How == "=" {
		return fmt.Errorf("path %q: nginx does not serve it from %s yet", a.Path, root)
	}
	if err := t.compressFiles(filepath.Join(root, s.Want.What), a.Min); err != nil {
		return fmt.Errorf("path %q: %w", a.Path, err)
	}
	t.Weaken(promise.CompressedCopies()...)
	t.Ensure(s.Chain, "gzip_static", "on")
	if t.Value(s.Chain, "gzip_vary") != "on" {
		t.Ensure(s.Chain, "gzip_vary", "on")
	}
	t.Says = fmt.Sprintf("send compressed copies of %s (%d copies beside the files; make them again when the files change)", s.Want.What, len(t.Beside))
	return nil
}

// compressFiles plans a copy beside each file that becomes smaller by a tenth.
func (t *task) compressFiles(dir string, least int) error {
	total, compresses := 0, map[string]bool{}
	for ending, kind := range mediaTypes {
		compresses[ending] = strings.HasPrefix(kind, "text/") || strings.Contains(gzipTypes, kind) || ending == "wasm" || ending == "map"
	}
	return t.WalkFiles(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || t.Ctx.Err() != nil {
			return errors.Join(err, t.Ctx.Err())
		}
		if !d.Type().IsRegular() || !compresses[strings.TrimPrefix(filepath.Ext(path), ".")] {
			return nil
		}
		edit, err := t.compressed(path, least)
		if err != nil || edit == nil {
			return err
		}
		t.Beside = append(t.Beside, *edit)
		if total += len(edit.New); len(t.Beside) > maxCompressed || total > maxCompressedBytes {
			return fmt.Errorf("more than %d files or %d bytes would be compressed", maxCompressed, maxCompressedBytes)
		}
		return nil
	})
}

// compressed is the missing copy of a file; nil if it has one or needs none.
func (t *task) compressed(path string, least int) (*change.Edit, error) {
	text, err := t.Read(path)
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
	if len(text) < least || out.Len() > len(text)-len(text)/10 {
		return nil, nil
	}
	old, err := t.Read(path + ".gz")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &change.Edit{Path: path + ".gz", New: out.Bytes()}, nil
	case err != nil:
		return nil, err
	case expandsTo(old, text):
		return nil, nil
	}
	return &change.Edit{Path: path + ".gz", Old: old, New: out.Bytes()}, nil
}

// expandsTo reports whether a compressed file expands to a text.
func expandsTo(file, text []byte) bool {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(r, int64(len(text))+1))
	return err == nil && bytes.Equal(got, text)
}
