package bench

// chunkSize parses a chunk's first line: hex digits, then extensions, which it
// skips. Line ends must be CRLF: a lenient parser could see another body than
// the proxies on the way.
func (p *reply) chunkSize() (more bool, err error) {
	line, more, err := p.frameLine()
	if more || err != nil {
		return more, err
	}
	size, rest := hexPrefix(line, p.maxBody)
	if len(rest) == len(line) || len(rest) > 0 && rest[0] != ';' && rest[0] != ' ' && rest[0] != '\t' {
		return false, protocol("chunk size %.40q", line)
	}
	if size > p.maxBody-(p.end-p.body) {
		return false, protocol("body is larger than %d bytes", p.maxBody)
	}
	if p.left, p.stage = size, inChunk; size == 0 {
		p.stage = inTrailer
	}
	return false, nil
}

// frameLine takes a line that must end in CRLF.
func (p *reply) frameLine() (line []byte, more bool, err error) {
	if p.pos == len(p.buf) {
		p.compact()
	}
	start := p.pos
	line, more, err = p.line(start, maxChunkLine)
	if more || err != nil {
		return nil, more, err
	}
	if p.pos-start != len(line)+2 {
		return nil, false, protocol("chunk line %.40q ends without CR", line)
	}
	return line, false, nil
}

// hexPrefix reads the hex digits at the beginning of a line. A number above
// limit stays above limit and does not wrap around.
func hexPrefix(line []byte, limit int) (n int, rest []byte) {
	for len(line) > 0 {
		d := unhex(line[0])
		if d < 0 {
			break
		}
		if n <= limit {
			n = n<<4 | d
		}
		line = line[1:]
	}
	return n, line
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// takeChunk moves the received bytes of a chunk to the end of the body.
func (p *reply) takeChunk() (more bool) {
	n := min(p.left, len(p.buf)-p.pos)
	if p.end != p.pos {
		copy(p.buf[p.end:], p.buf[p.pos:p.pos+n])
	}
	p.end += n
	p.pos += n
	p.left -= n
	if p.left > 0 {
		p.compact()
		return true
	}
	p.stage = inChunkEnd
	return false
}

// compact drops parsed framing: bytes not yet parsed move down to the end of the
// body. The next chunk then mostly arrives in its final place, and a body of
// many small chunks needs no more memory than its content.
func (p *reply) compact() {
	if p.pos > p.end {
		rest := copy(p.buf[p.end:], p.buf[p.pos:])
		p.buf, p.pos = p.buf[:p.end+rest], p.end
	}
}

// chunkEnd takes the CRLF after a chunk.
func (p *reply) chunkEnd() (more bool, err error) {
	got := p.buf[p.pos:]
	if len(got) > 0 && got[0] != '\r' || len(got) > 1 && got[1] != '\n' {
		return false, protocol("chunk is followed by %.20q, not by its end", got)
	}
	if len(got) < 2 {
		return true, nil
	}
	p.pos += 2
	p.stage = inChunkSize
	return false, nil
}

// trailerLine skips a trailer line. An empty line ends the answer.
func (p *reply) trailerLine() (more bool, err error) {
	line, more, err := p.frameLine()
	if more || err != nil {
		return more, err
	}
	if p.trailer += len(line) + 2; p.trailer > maxHead {
		return false, protocol("trailer goes beyond %d bytes", maxHead)
	}
	if len(line) == 0 {
		p.stage = atEnd
		return false, nil
	}
	_, err = parseField(line)
	return false, err
}
