package nginxconf

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// mediaTypes are the media types of common file name endings.
var mediaTypes = map[string]string{
	"html": "text/html", "htm": "text/html", "css": "text/css", "js": "application/javascript", "mjs": "application/javascript",
	"json": "application/json", "map": "application/json", "webmanifest": "application/manifest+json", "xml": "text/xml", "txt": "text/plain",
	"csv": "text/csv", "md": "text/markdown", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
	"ico": "image/x-icon", "webp": "image/webp", "avif": "image/avif", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
	"pdf": "application/pdf", "wasm": "application/wasm", "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm", "zip": "application/zip",
}

// builtInTypes are the types that nginx has if none are configured.
var builtInTypes = map[string]string{"html": "text/html", "gif": "image/gif", "jpg": "image/jpeg"}

// missingTypes is a types block for a location, if the list in effect lacks a
// type of its files: without a type a browser gets default_type. The block hides
// the list in effect, so it has the types of all its files. It is nil if the
// list lacks none.
func (t *task) missingTypes(around []*nginx.Directive, endings map[string]bool) *nginx.Directive {
	known := map[string]string{}
	blocks, _ := t.Effective(around, "types")
	for _, b := range blocks {
		t.Walk(b.Block, nil, func(p nginx.Place) {
			for _, ending := range p.Args() {
				if p.Name() != "include" {
					known[ending] = p.Name()
				}
			}
		})
	}
	if len(blocks) == 0 {
		known = builtInTypes
	}
	lacks, types := false, nginx.NewBlock("types")
	for _, ending := range slices.Sorted(maps.Keys(endings)) {
		kind, ok := known[ending]
		if !ok {
			kind, ok = mediaTypes[ending]
			lacks = lacks || ok
		}
		if ok {
			types.Put(nginx.New(kind, ending))
		}
	}
	if !lacks {
		return nil
	}
	return types
}
