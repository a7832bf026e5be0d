package isucholar

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkZip checks that a zip has exactly some files, and their bytes.
func checkZip(res *scenario.Response, want map[string]uint32) error {
	archive, err := zip.NewReader(bytes.NewReader(res.Body), int64(len(res.Body)))
	if err != nil {
		f := scenario.Wrong(res, "zip-form", "reading the zip: %v", err)
		f.Kind, f.Cause = iikanji.FaultBody, err
		return f
	}
	if len(archive.File) != len(want) {
		return scenario.Wrong(res, "zip-files", "%d files, want %d", len(archive.File), len(want))
	}
	found := map[string]bool{}
	for _, f := range archive.File {
		sum, ok := want[f.Name]
		if !ok || found[f.Name] {
			return scenario.Wrong(res, "zip-files", "file %.80q is not among the submissions, or twice", f.Name)
		}
		found[f.Name] = true
		got, err := zipSum(f)
		if err != nil || got != sum {
			return scenario.Wrong(res, "zip-content", "file %.80q has other bytes than were sent (%v)", f.Name, err)
		}
	}
	return nil
}

// maxFile limits the size of an unpacked file, against hostile archives.
const maxFile = 1 << 20

// zipSum returns the CRC-32 of a file's bytes.
func zipSum(f *zip.File) (uint32, error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sum := crc32.NewIEEE()
	if n, err := io.Copy(sum, io.LimitReader(r, maxFile)); err != nil || n == maxFile {
		return 0, fmt.Errorf("%d bytes read: %w", n, err)
	}
	return sum.Sum32(), nil
}
