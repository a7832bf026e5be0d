package export

import (
	"errors"
	"fmt"
	"os"
	"path"
)

// Save writes files into a folder, which has to be empty or new. No name leaves it.
func Save(dir string, files map[string][]byte) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	if old, err := os.ReadDir(dir); err != nil || len(old) > 0 {
		return errors.Join(err, fmt.Errorf("the folder %s is not empty", dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range Names(files) {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("writing the export: %w", err)
		}
		if err := root.WriteFile(name, files[name], 0o600); err != nil {
			return fmt.Errorf("writing the export: %w", err)
		}
	}
	return nil
}
