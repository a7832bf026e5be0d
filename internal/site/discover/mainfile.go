package discover

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"path/filepath"
	"strings"
)

// maxTable is the maximum size of a program's line table that is read, in bytes.
const maxTable = 256 << 20

// mainFile is the source file with the function main of a Go program, as its line
// table names it; "" if the program has none, or was built with -trimpath.
func (s *search) mainFile(program string) string {
	f, err := s.host.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	x, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	text := x.Section(".text")
	for _, section := range x.Sections {
		if !strings.HasSuffix(section.Name, ".gopclntab") || text == nil || section.Size > maxTable {
			continue
		}
		data, err := section.Data()
		if err != nil {
			return ""
		}
		return mainIn(data, text.Addr)
	}
	return ""
}

// mainIn looks the function up in a line table. The table is hostile input, and the
// standard library's reader of it may panic.
func mainIn(table []byte, text uint64) (file string) {
	if !plausible(table) {
		return ""
	}
	defer func() {
		if recover() != nil {
			file = ""
		}
	}()
	lines, err := gosym.NewTable(nil, gosym.NewLineTable(table, text))
	if err != nil {
		return ""
	}
	fn := lines.LookupFunc("main.main")
	if fn == nil {
		return ""
	}
	if file, _, _ = lines.PCToLine(fn.Entry); filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return ""
}

// plausible reports whether a line table of a 64-bit program has room for the
// functions and files that its header announces: the standard library allocates
// memory for them before it looks.
func plausible(table []byte) bool {
	const header, pointer = 64, 8
	if len(table) < header || table[7] != pointer || table[1] != 0xff || table[2] != 0xff || table[3] != 0xff {
		return false
	}
	functions, files := binary.LittleEndian.Uint64(table[8:]), binary.LittleEndian.Uint64(table[16:])
	return functions <= uint64(len(table))/pointer && files <= uint64(len(table))
}
