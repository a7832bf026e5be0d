package isuxi

import (
	_ "embed"
	"math/rand/v2"
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// staticFolder is the folder of the static files, in webapp.
const staticFolder = "static"

// stylePath is the file that every page refers to. The benchmarker checks its length as the
// answer states it.
const stylePath = "/css/bootstrap.min.css"

// Sizes of the files in bytes. That of the style sheet is the contest's.
const (
	styleBytes  = 122540
	scriptBytes = 36868
	fontBytes   = 23424
)

var (
	//go:embed page/bootstrap.css
	style []byte
	//go:embed page/bootstrap.js
	script []byte
)

// A staticFile is a file that the site has beside its pages.
type staticFile struct {
	path string
	body []byte
}

// staticFiles generates all static files. No page refers to script and font.
var staticFiles = sync.OnceValue(func() []staticFile {
	return []staticFile{
		{stylePath, files.Filled(style, styleBytes, dataSeed)},
		{"/js/bootstrap.min.js", files.Filled(script, scriptBytes, dataSeed)},
		{"/fonts/glyphicons-halflings-regular.woff", noise(fontBytes)},
	}
})

// noise is as hard to compress as a font.
func noise(size int) []byte {
	r := rand.New(rand.NewPCG(dataSeed, uint64(size)))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
