package peer

import (
	"errors"
	"io"
	"io/fs"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Open opens a file of the host for reading.
func (p *Peer) Open(path string) (host.File, error) {
	var out opened
	if err := p.call(p.ctx, "Open", onePath{path}, nil, &out); err != nil {
		return nil, err
	}
	return &openFile{farHandle: farHandle{p, out.ID}}, nil
}

// An openFile is an open file of the far end. Read streams from the present offset to the
// end of the file, so that a long file costs no round trip for each part.
type openFile struct {
	farHandle
	at     int64
	stream io.ReadCloser
}

// Stat describes the open file, also after another one took its name.
func (f *openFile) Stat() (fs.FileInfo, error) { return f.p.info("StatOpen", handle{f.id}) }

// ReadAt implements io.ReaderAt.
func (f *openFile) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		want := min(len(b)-n, mostPart)
		got, err := f.p.callBytes(f.p.ctx, "ReadAt", part{f.id, at + int64(n), want}, nil, nil)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], got)
		if len(got) < want {
			return n, io.EOF
		}
	}
	return n, nil
}

// Read implements io.Reader. After the end of the file it may be called again: the file
// may have grown.
func (f *openFile) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if f.stream == nil {
		var err error
		if f.stream, err = f.p.begin(f.p.ctx, "Stream", part{ID: f.id, Offset: f.at}, nil, 0, nil); err != nil {
			return 0, err
		}
	}
	n, err := f.stream.Read(b)
	f.at += int64(n)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		err := f.endStream()
		if n > 0 || err != nil {
			return n, err
		}
		return 0, io.EOF
	}
	return n, errors.Join(f.p.broken(f.p.ctx, err), f.endStream())
}

func (f *openFile) endStream() error {
	if f.stream == nil {
		return nil
	}
	err := f.stream.Close()
	f.stream = nil
	return err
}

// Close closes the file at the far end.
func (f *openFile) Close() error { return errors.Join(f.endStream(), f.farHandle.Close()) }
