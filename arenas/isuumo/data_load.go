package isuumo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files of the benchmarker's copy.
const (
	initialName = "initial"
	verifyName  = "verify"
	versionFile = "version"
)

func draftName(i int) string { return fmt.Sprintf("draft-%02d", i) }

func chairFile(folder, name string) string {
	return filepath.Join(folder, "chair", name+".csv")
}

func estateFile(folder, name string) string {
	return filepath.Join(folder, "estate", name+".csv")
}

// readDataset reads the benchmarker's copy from the folder data of Generate.
func readDataset(folder string) (*Dataset, error) {
	var set Dataset
	var err error
	if set.Chairs, err = readFile(chairFile(folder, initialName), readChairs); err != nil {
		return nil, err
	}
	if set.Estates, err = readFile(estateFile(folder, initialName), readEstates); err != nil {
		return nil, err
	}
	if set.VerifyChairs, err = readFile(chairFile(folder, verifyName), readChairs); err != nil {
		return nil, err
	}
	if set.VerifyEstates, err = readFile(estateFile(folder, verifyName), readEstates); err != nil {
		return nil, err
	}
	drafts, err := filepath.Glob(chairFile(folder, "draft-*"))
	if err != nil {
		return nil, fmt.Errorf("listing the drafts: %w", err)
	}
	for i := range drafts {
		chairs, err := readFile(chairFile(folder, draftName(i)), readChairs)
		if err != nil {
			return nil, err
		}
		estates, err := readFile(estateFile(folder, draftName(i)), readEstates)
		if err != nil {
			return nil, err
		}
		set.DraftChairs, set.DraftEstates = append(set.DraftChairs, chairs), append(set.DraftEstates, estates)
	}
	return &set, nil
}

// readFile reads a file that must have at least one row.
func readFile[T any](path string, read func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	defer f.Close()
	rows, err := read(bufio.NewReader(f))
	if err == nil && len(rows) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("reading the initial data %s: %w", path, err)
	}
	return rows, nil
}
