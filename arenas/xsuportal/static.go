package xsuportal

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"hash/crc32"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
)

// publicFolder is the folder of the static files, in webapp.
const publicFolder = "public"

const dataSeed = 10

// Sizes of the scripts and styles in bytes: about those of the contest's, whose code for the
// messages alone had more than a megabyte before it was made smaller.
const (
	vendorBytes = 712_446
	styleBytes  = 194_316
	pageBytes   = 28_112
	fontBytes   = 38_352
)

var (
	//go:embed page/vendor.js
	vendorScript []byte
	//go:embed page/audience.js
	audienceScript []byte
	//go:embed page/contestant.js
	contestantScript []byte
	//go:embed page/admin.js
	adminScript []byte
	//go:embed page/vendor.css
	vendorStyle []byte
	//go:embed page/sw.js
	serviceWorker []byte
	//go:embed page/shell.html
	shell []byte
)

// The shells: the pages that load the scripts.
const (
	audienceShell   = "audience"
	contestantShell = "contestant"
	adminShell      = "admin"
)

const (
	vendorPath  = "/packs/vendor.js"
	stylePath   = "/packs/vendor.css"
	faviconPath = "/favicon.ico"
	fontPath    = "/packs/regular.woff2"
)

func scriptPath(of string) string { return "/packs/" + of + ".js" }

// A staticFile is a file that the web server has.
type staticFile struct {
	path string
	body []byte
}

// staticFiles generates all static files. Scripts and styles have the pages' own lines, then
// filling that compresses as libraries do.
var staticFiles = sync.OnceValue(func() []staticFile {
	all := []staticFile{
		{vendorPath, files.Filled(vendorScript, vendorBytes, dataSeed)},
		{stylePath, files.Filled(vendorStyle, styleBytes, dataSeed)},
		{"/sw.js", serviceWorker},
		{faviconPath, icon()},
		{fontPath, noise(fontBytes)},
	}
	for of, script := range map[string][]byte{audienceShell: audienceScript, contestantShell: contestantScript, adminShell: adminScript} {
		all = append(all, staticFile{scriptPath(of), files.Filled(script, pageBytes+len(of), dataSeed)},
			staticFile{"/" + of + ".html", bytes.ReplaceAll(shell, []byte("SHELL"), []byte(of))})
	}
	return all
})

// icon draws the icon.
func icon() []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(dataSeed, 1))
	if err := png.Encode(&b, draw.RandomChair(r, 1, 32).Picture(r, 0)); err != nil {
		panic("BUG: drawing: " + err.Error())
	}
	return b.Bytes()
}

// noise is a file that cannot be compressed.
func noise(size int) []byte {
	r := rand.New(rand.NewPCG(dataSeed, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// sums are the checksums, by path, of the files that are compared byte by byte.
var sums = sync.OnceValue(func() map[string]verify.Sum {
	m := map[string]verify.Sum{}
	for _, f := range staticFiles() {
		switch f.path {
		case vendorPath, stylePath, scriptPath(audienceShell), scriptPath(contestantShell), scriptPath(adminShell):
			m[f.path] = verify.SumOf(f.body)
		}
	}
	return m
})

// Generate writes the pages, scripts and styles below the folder public of webapp. Nothing else
// is generated: all tables are empty at first.
func Generate(ctx context.Context, webapp, _ string) error {
	for _, f := range staticFiles() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := files.WriteBytes(filepath.Join(webapp, publicFolder, filepath.FromSlash(f.path)), f.body); err != nil {
			return err
		}
	}
	return nil
}

// generatedVersion differs for other files.
func generatedVersion() string {
	sum := uint32(0)
	for _, text := range [][]byte{vendorScript, audienceScript, contestantScript, adminScript, vendorStyle, serviceWorker, shell} {
		sum = sum*31 + crc32.ChecksumIEEE(text)
	}
	return fmt.Sprintf("1 %08x %d %d %d", sum, vendorBytes, styleBytes, pageBytes)
}
