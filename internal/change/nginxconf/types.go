package nginxconf

import (
	"maps"
	"slices"
)

// mediaTypes are the types of endings that nginx itself does not know without
// a list of types: the ones that sites have.
var mediaTypes = map[string]string{
	"html": "text/html", "htm": "text/html", "css": "text/css", "js": "application/javascript", "mjs": "application/javascript",
	"json": "application/json", "map": "application/json", "webmanifest": "application/manifest+json", "xml": "text/xml", "txt": "text/plain",
	"csv": "text/csv", "md": "text/markdown", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
	"ico": "image/x-icon", "webp": "image/webp", "avif": "image/avif", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
	"pdf": "application/pdf", "wasm": "application/wasm", "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm", "zip": "application/zip",
}

// builtIn are the types that nginx has when none are configured.
var builtIn = map[string]string{"html": "text/html", "gif": "image/gif", "jpg": "image/jpeg"}

// missingTypes is a types block for a location, when the list in effect lacks
// one that its files need: without it a browser gets default_type. The block
// hides the list, so that it holds all that the files need.
func (t *task) missingTypes(around []*directive, endings map[string]bool) *directive {
	known := map[string]string{}
	blocks, _ := t.effective(around, "types")
	for _, b := range blocks {
		t.walk(b.body, nil, func(p place) {
			for _, ending := range p.args() {
				if p.name() != "include" {
					known[ending] = p.name()
				}
			}
		})
	}
	if len(blocks) == 0 {
		known = builtIn
	}
	lacks, types := false, newBlock("types")
	for _, ending := range slices.Sorted(maps.Keys(endings)) {
		kind, ok := known[ending]
		if !ok {
			kind, ok = mediaTypes[ending]
			lacks = lacks || ok
		}
		if ok {
			types.put(newDirective(kind, ending))
		}
	}
	if !lacks {
		return nil
	}
	return types
}
