package host

import (
	"fmt"
	"io"
	"os"
)

// Create makes a new file.
func (f *Fake) Create(path string, body []byte, perm os.FileMode) error {
	at, err := f.try("create", path, false)
	if err != nil {
		return err
	}
	return Local{}.Create(at, body, perm)
}

// Symlink makes a symbolic link; see resolve for its meaning.
func (f *Fake) Symlink(target, path string) error {
	at, err := f.try("symlink", path, false)
	if err != nil {
		return err
	}
	return Local{}.Symlink(target, at)
}

// Rmdir removes an empty folder.
func (f *Fake) Rmdir(path string) error {
	at, err := f.try("rmdir", path, false)
	if err != nil {
		return err
	}
	return Local{}.Rmdir(at)
}

// Chown gives a file or a link to another user and group.
func (f *Fake) Chown(path string, to Owner) error {
	at, err := f.try("chown", path, false)
	if err != nil {
		return err
	}
	return Local{}.Chown(at, to)
}

// Hold locks a file or a folder.
func (f *Fake) Hold(path string) (io.Closer, error) {
	at, err := f.try("hold", path, false)
	if err != nil {
		return nil, err
	}
	return Local{}.Hold(at)
}

// Account is that of this process: its files are those below Root.
func (f *Fake) Account() (Owner, error) { return Local{}.Account() }

// User finds a name in Users.
func (f *Fake) User(name string) (User, error) {
	u, ok := f.Users[name]
	if !ok {
		return User{}, fmt.Errorf("user %q: %w", name, ErrNoUser)
	}
	return u, nil
}
