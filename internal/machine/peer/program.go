package peer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Program is the file that hosts get to be the far end: iikanji itself.
type Program struct {
	// Sum is its SHA-256 in hexadecimal digits.
	Sum string
	// Arch is its architecture in Go's words, as in amd64.
	Arch string

	body []byte
	mu   sync.Mutex
	made map[string][]byte // packed
}

// ReadProgram reads a program for Linux.
func ReadProgram(path string) (*Program, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the program for hosts: %w", err)
	}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s is no program for Linux: %w", path, err)
	}
	sum := sha256.Sum256(body)
	return &Program{Sum: hex.EncodeToString(sum[:]), Arch: archOfELF(f.Machine), body: body, made: map[string][]byte{}}, nil
}

// packed is the program as one of zstd, gzip and cat unpacks it.
func (p *Program) packed(how string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.made[how]; b != nil {
		return b, nil
	}
	var out bytes.Buffer
	switch how {
	case "cat":
		return p.body, nil
	case "zstd":
		w, err := zstd.NewWriter(&out)
		if err == nil {
			_, err = w.Write(p.body)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("packing the program: %w", err)
		}
	case "gzip":
		w := gzip.NewWriter(&out)
		_, err := w.Write(p.body)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("packing the program: %w", err)
		}
	default:
		return nil, fmt.Errorf("the host unpacks with %q, which is not known", how)
	}
	p.made[how] = out.Bytes()
	return p.made[how], nil
}

// archOf is the architecture of what uname -m prints, in Go's words.
func archOf(machine string) string {
	known := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "armv6l": "arm", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x"}
	if arch, ok := known[machine]; ok {
		return arch
	}
	return machine
}

func archOfELF(m elf.Machine) string {
	known := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_386: "386", elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x"}
	if arch, ok := known[m]; ok {
		return arch
	}
	return m.String()
}
