package isucholar

import (
	"bytes"
	_ "embed"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// publicFolder is the folder of the static files, in webapp.
const publicFolder = "public"

// Sizes of the contest's files in bytes.
const (
	appBytes     = 460356
	runtimeBytes = 1524
	styleBytes   = 26580
	imageBytes   = 27126 // of the picture in each submission
)

var (
	//go:embed page/index.html
	indexPage []byte
	//go:embed page/app.js
	appScript []byte
	//go:embed page/runtime.js
	runtimeScript []byte
	//go:embed page/app.css
	appStyle []byte
)

// A staticFile is a file that the web server has.
type staticFile struct {
	path string
	body []byte
}

// The benchmarker checks every byte of these three files.
const (
	appPath     = "/_nuxt/app.js"
	runtimePath = "/_nuxt/runtime.js"
	stylePath   = "/_nuxt/css/app.css"
)

// staticFiles generates all static files. Scripts and styles have the sizes of the
// contest's: the pages' own lines, then filling that compresses as libraries do.
var staticFiles = sync.OnceValue(func() []staticFile {
	return []staticFile{
		{"/index.html", indexPage},
		{appPath, files.Filled(appScript, appBytes, dataSeed)},
		{runtimePath, files.Filled(runtimeScript, runtimeBytes, dataSeed)},
		{stylePath, files.Filled(appStyle, styleBytes, dataSeed)},
		{"/favicon.ico", picture(1, 32, 0)},
		{"/image/logo.png", picture(2, 96, 0)},
		{"/image/hero.jpg", photo(3, 256, 80)},
		{"/image/campus.jpg", photo(4, 192, 70)},
		{"/image/library.jpg", photo(5, 160, 70)},
	}
})

// picture draws a PNG.
func picture(seed uint64, size, grain int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(dataSeed, 100+seed))
	if err := png.Encode(&b, draw.RandomChair(r, int(seed), size).Picture(r, grain)); err != nil {
		panic("BUG: drawing: " + err.Error())
	}
	return b.Bytes()
}

// photo draws a JPEG.
func photo(seed uint64, size, quality int) []byte {
	const grain = 12
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(dataSeed, 100+seed))
	if err := jpeg.Encode(&b, draw.RandomChair(r, int(seed), size).Picture(r, grain),
		&jpeg.Options{Quality: quality}); err != nil {
		panic("BUG: drawing: " + err.Error())
	}
	return b.Bytes()
}

// submissionImage is the picture in each submission: a JPEG, with random bytes behind its
// end up to the contest's size, so that all of it is as hard to compress.
var submissionImage = sync.OnceValue(func() []byte {
	b := photo(6, 400, 90)
	for quality := 88; len(b) > imageBytes; quality -= 2 {
		b = photo(6, 400, quality)
	}
	r := rand.New(rand.NewPCG(dataSeed, imageBytes))
	for len(b) < imageBytes {
		b = append(b, byte(r.Uint32()))
	}
	return b
})
