package isublog

import "bytes"

// parseHead reads status and Content-Length of a complete head. It returns false if the
// head is not that of an HTTP answer.
func (s *slot) parseHead() bool {
	line, fields, _ := bytes.Cut(s.head[:s.inHead], []byte("\r\n"))
	// "HTTP/1.1 200 OK"
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return false
	}
	status, ok := number(line[9:12])
	if !ok || status < 100 {
		return false
	}
	s.status, s.length = int(status), -1
	for len(fields) > 0 {
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		const name = "content-length:"
		if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
			continue
		}
		if n, ok := number(bytes.TrimSpace(line[len(name):])); ok {
			s.length = n
		}
	}
	return true
}

// number reads digits. It returns false for anything else, and for numbers of more
// than 18 digits.
func number(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0 && len(b) <= 18
}
