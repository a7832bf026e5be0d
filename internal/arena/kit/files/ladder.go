package files

import "io/fs"

// Ladder returns the rungs of an arena's ladder. embedded holds the folder ladder, by
// "go:embed ladder". Ladder panics without that folder.
func Ladder(embedded fs.FS) fs.FS {
	rungs, err := fs.Sub(embedded, "ladder")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return rungs
}
