package peer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// mostDescribed bounds the files of a folder that are described in one answer.
const mostDescribed = 10_000

// reads serves the calls that change nothing.
func (s *server) reads(mux *http.ServeMux) {
	mux.Handle("/Read", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (body[none], error) {
		b, err := s.h.Read(a.Path)
		return body[none]{bytes: b}, err
	}))
	mux.Handle("/ReadBeneath", handleCall(s, func(_ context.Context, a twoPaths, _ io.Reader) (body[none], error) {
		b, err := s.h.ReadBeneath(a.From, a.Path)
		return body[none]{bytes: b}, err
	}))
	info := func(of func(string) (fs.FileInfo, error)) http.HandlerFunc {
		return handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (*fileInfo, error) {
			i, err := of(a.Path)
			if err != nil {
				return nil, err
			}
			return fileInfoOf(i), nil
		})
	}
	mux.Handle("/Stat", info(s.h.Stat))
	mux.Handle("/Lstat", info(s.h.Lstat))
	list := func(described bool) http.HandlerFunc {
		return handleCall(s, func(_ context.Context, a onePath, _ io.Reader) ([]dirEntry, error) {
			entries, err := s.h.ReadDir(a.Path)
			var out []dirEntry
			for _, e := range entries {
				one := dirEntry{N: e.Name(), M: e.Type()}
				if described && !e.IsDir() && len(entries) <= mostDescribed {
					if i, err := e.Info(); err == nil { // else it is gone, and asked for alone
						one.I = fileInfoOf(i)
					}
				}
				out = append(out, one)
			}
			return out, err
		})
	}
	mux.Handle("/ReadDir", list(false))
	mux.Handle("/ReadDirInfo", list(true))
	text := func(of func(string) (string, error)) http.HandlerFunc {
		return handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (string, error) { return of(a.Path) })
	}
	mux.Handle("/Readlink", text(s.h.Readlink))
	mux.Handle("/RealPath", text(s.h.RealPath))
	mux.Handle("/Glob", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) ([]string, error) { return s.h.Glob(a.Path) }))
	mux.Handle("/FreeSpace", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (int64, error) { return s.h.FreeSpace(a.Path) }))
	mux.Handle("/Replaceable", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (none, error) { return none{}, s.h.Replaceable(a.Path) }))
	s.openFiles(mux)
}

// openFiles serves the calls on open files.
func (s *server) openFiles(mux *http.ServeMux) {
	mux.Handle("/Open", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (opened, error) {
		f, err := s.h.Open(a.Path)
		if err != nil {
			return opened{}, err
		}
		i, err := f.Stat()
		if err != nil {
			return opened{}, errors.Join(err, f.Close())
		}
		id, err := s.keep(f)
		return opened{id, fileInfoOf(i)}, err
	}))
	mux.Handle("/StatOpen", handleCall(s, func(_ context.Context, a handle, _ io.Reader) (*fileInfo, error) {
		f, err := s.file(a.ID)
		if err != nil {
			return nil, err
		}
		i, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return fileInfoOf(i), nil
	}))
	mux.Handle("/ReadAt", handleCall(s, func(_ context.Context, a part, _ io.Reader) (body[none], error) {
		f, err := s.file(a.ID)
		if err != nil {
			return body[none]{}, err
		}
		if a.Length < 0 || a.Length > mostPart {
			return body[none]{}, errors.New("too much for one read")
		}
		b := make([]byte, a.Length)
		n, err := f.ReadAt(b, a.Offset)
		if errors.Is(err, io.EOF) { // the near end knows it by the length
			err = nil
		}
		return body[none]{bytes: b[:n]}, err
	}))
	mux.HandleFunc("/Stream", s.stream)
}

// mostPart bounds one ReadAt, in bytes.
const mostPart = 4 << 20

func (s *server) file(id uint64) (host.File, error) {
	c, ok := s.kept(id)
	if !ok {
		return nil, fs.ErrClosed
	}
	f, ok := c.(host.File)
	if !ok {
		return nil, fs.ErrInvalid
	}
	return f, nil
}

// stream sends an open file from an offset to its end.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	defer s.calls.Done()
	var a part
	if err := readFrame(r.Body, &a); err != nil {
		answerWith(w, nil, err)
		return
	}
	f, err := s.file(a.ID)
	answerWith(w, none{}, err)
	if err != nil {
		return
	}
	buf := make([]byte, 256<<10)
	for at := a.Offset; r.Context().Err() == nil; {
		n, err := f.ReadAt(buf, at)
		if _, err := w.Write(buf[:n]); err != nil {
			return
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the near end sees a reset, not an end
		}
	}
}

// writes serves the calls that change files, behind the fence.
func (s *server) writes(mux *http.ServeMux) {
	fenced := func(check func(f *fence, path string) error, path string, do func() error) (none, error) {
		f, err := s.began()
		if err == nil {
			err = check(f, path)
		}
		if err == nil {
			err = do()
		}
		return none{}, err
	}
	mux.Handle("/Write", handleCall(s, func(_ context.Context, a onePerm, in io.Reader) (none, error) {
		b, err := content(in)
		if err != nil {
			return none{}, err
		}
		return fenced((*fence).follow, a.Path, func() error { return s.h.Write(a.Path, b, a.Perm) })
	}))
	mux.Handle("/Create", handleCall(s, func(_ context.Context, a onePerm, in io.Reader) (none, error) {
		b, err := content(in)
		if err != nil {
			return none{}, err
		}
		return fenced((*fence).keep, a.Path, func() error { return s.h.Create(a.Path, b, a.Perm) })
	}))
	mux.Handle("/WriteBeneath", handleCall(s, func(_ context.Context, a beneath, in io.Reader) (none, error) {
		b, err := content(in)
		if err != nil {
			return none{}, err
		}
		return fenced((*fence).below, a.Path, func() error { return s.h.WriteBeneath(a.Root, a.Path, b, a.As) })
	}))
	one := func(check func(f *fence, path string) error, do func(string) error) http.HandlerFunc {
		return handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (none, error) {
			return fenced(check, a.Path, func() error { return do(a.Path) })
		})
	}
	mux.Handle("/Remove", one((*fence).keep, s.h.Remove))
	mux.Handle("/RemoveAll", one((*fence).keep, s.h.RemoveAll))
	mux.Handle("/Rmdir", one((*fence).keep, s.h.Rmdir))
	two := func(check func(f *fence, path string) error, do func(root, path string) error) http.HandlerFunc {
		return handleCall(s, func(_ context.Context, a twoPaths, _ io.Reader) (none, error) {
			return fenced(check, a.Path, func() error { return do(a.From, a.Path) })
		})
	}
	mux.Handle("/RemoveBeneath", two((*fence).below, s.h.RemoveBeneath))
	mux.Handle("/RmdirBeneath", two((*fence).emptied, s.h.RmdirBeneath))
	mux.Handle("/Symlink", handleCall(s, func(_ context.Context, a twoPaths, _ io.Reader) (none, error) {
		return fenced((*fence).keep, a.Path, func() error { return s.h.Symlink(a.From, a.Path) })
	}))
	mux.Handle("/Mkdir", handleCall(s, func(_ context.Context, a onePerm, _ io.Reader) (none, error) {
		return fenced((*fence).keep, a.Path, func() error { return s.h.Mkdir(a.Path, a.Perm) })
	}))
	mux.Handle("/Chown", handleCall(s, func(_ context.Context, a chown, _ io.Reader) (none, error) {
		return fenced((*fence).keep, a.Path, func() error { return s.h.Chown(a.Path, a.To) })
	}))
}
