package files

import "io/fs"

// Ladder returns the rungs of an arena's ladder. embedded holds the folder ladder, by
// "go:embed ladder". Ladder panics without that folder.
func Ladder(embedded fs.FS) fs.FS { return LadderIn(embedded, "ladder") }

// LadderIn is Ladder for another folder, as a variant of the arena has one.
func LadderIn(embedded fs.FS, folder string) fs.FS {
	rungs, err := fs.Sub(embedded, folder)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return rungs
}
