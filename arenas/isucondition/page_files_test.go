package isucondition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is computed: names of assets, tables, sums")

const publicDir = "files/public"

// assetName splits an asset's file name into base name, hash and extension.
var assetName = regexp.MustCompile(`^(\w+)\.([0-9a-f]{8})\.(\w+)$`)

// assetFile returns the path of the only file with a name and extension.
func assetFile(t *testing.T, name, kind string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(publicDir, "assets", name+".????????."+kind))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of asset %s.*.%s: %v, want one (%v)", name, kind, found, err)
	}
	return found[0]
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func vendorScript(t *testing.T) string { return readFile(t, assetFile(t, "vendor", "js")) }

// pageAssets is in the order in which hashes are computed: a file refers to
// earlier ones only.
var pageAssets = []struct{ name, kind string }{
	{"favicon", "svg"}, {"logo_white", "svg"}, {"logo_orange", "svg"}, {"vendor", "js"}, {"index", "css"}, {"index", "js"},
}

// TestPageFiles checks that each asset's name has the hash of its content and that
// each reference uses that name. With -update it renames and rewrites the files.
func TestPageFiles(t *testing.T) {
	names := map[string]string{} // name found → correct name
	put := func(path string, body string) {
		if body == readFile(t, path) {
			return
		}
		if !*update {
			t.Errorf("%s is out of date; go test -run TestPageFiles -update writes it", path)
			return
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refer := func(body string) string {
		for old, now := range names {
			body = strings.ReplaceAll(body, old, now)
		}
		return body
	}
	for _, a := range pageAssets {
		path := assetFile(t, a.name, a.kind)
		body := refer(readFile(t, path))
		if head, _, ok := strings.Cut(body, almanacMark); ok {
			body = head + almanacTable()
		}
		sum := sha256.Sum256([]byte(body))
		name := fmt.Sprintf("%s.%s.%s", a.name, hex.EncodeToString(sum[:4]), a.kind)
		names[filepath.Base(path)] = name
		put(path, body)
		if name == filepath.Base(path) {
			continue
		}
		if !*update {
			t.Errorf("%s should be called %s; go test -run TestPageFiles -update renames it", path, name)
		} else if err := os.Rename(path, filepath.Join(filepath.Dir(path), name)); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(publicDir, "index.html")
	put(index, refer(readFile(t, index)))
}

// TestAssets compares the benchmarker's list with the files, in the documented
// order.
func TestAssets(t *testing.T) {
	var paths []string
	for i, a := range assets() {
		file := filepath.Join(publicDir, a.Path)
		if a.Path == "/" {
			file = filepath.Join(publicDir, "index.html")
		} else if m := assetName.FindStringSubmatch(filepath.Base(a.Path)); m == nil {
			t.Errorf("asset %s has no hash in its name", a.Path)
		}
		body := []byte(readFile(t, file))
		if a.CRC32 != crc32.ChecksumIEEE(body) || a.Size != len(body) {
			t.Errorf("%s: CRC32 %08x of %d bytes, the file has %08x of %d", a.Path, a.CRC32, a.Size, crc32.ChecksumIEEE(body), len(body))
		}
		if want := i > 4; a.Scripted != want {
			t.Errorf("asset %d, %s: scripted %t, want %t", i, a.Path, a.Scripted, want)
		}
		paths = append(paths, a.Path)
	}
	if len(paths) != 7 || paths[0] != "/" {
		t.Fatalf("assets are %q, want / and six others", paths)
	}
	index := []byte(readFile(t, filepath.Join(publicDir, "index.html")))
	script := []byte(readFile(t, assetFile(t, "index", "js")))
	for _, a := range assets()[1:] {
		in := index
		if a.Scripted {
			in = script
		}
		if n := bytes.Count(in, []byte(a.Path)); n != 1 {
			t.Errorf("%s is referenced %d times, want once", a.Path, n)
		}
	}
	if size := len(vendorScript(t)); size < 300<<10 {
		t.Errorf("the vendor script has %d bytes: too light for the contest's transfers", size)
	}
}
