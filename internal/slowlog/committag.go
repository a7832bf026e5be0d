package slowlog

import "bytes"

// maxTag is how much of a tag is kept, in bytes.
const maxTag = 64

// tag keeps the comment at p, which names what a COMMIT ends.
func (f *Fingerprinter) tag(p int) {
	if f.in[p] != '/' {
		return
	}
	body := bytes.TrimSuffix(f.in[p+2:f.endOfComment(p)], []byte("*/"))
	body = bytes.Join(bytes.Fields(bytes.ToValidUTF8(body[:min(len(body), maxTag)], nil)), []byte(" "))
	if len(body) == 0 {
		return
	}
	f.out = append(f.out, " /* "...)
	digit := false
	for _, c := range body {
		if class[c] == clDigit {
			if !digit {
				f.out = append(f.out, '?')
			}
		} else if c == '*' || c == '/' { // or it could end the comment
			f.out = append(f.out, '_')
		} else {
			f.out = append(f.out, c)
		}
		digit = class[c] == clDigit
	}
	f.out = append(f.out, " */"...)
	f.prev = tokClose
}
