package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji/bench/access/gen"
)

// wrappers are the forms in which a container's or a host's log keeps the lines of a
// program.
var wrappers = []struct {
	name string
	wrap func(b, line []byte) []byte
}{
	{"Docker", func(b, line []byte) []byte {
		b = append(b, `{"log":`...)
		b = strconv.AppendQuote(b, string(line)+"\n")
		return append(b, `,"stream":"stdout","time":"2026-11-19T04:04:05.123456789Z"}`...)
	}},
	{"CRI", func(b, line []byte) []byte {
		return append(append(b, "2026-11-19T04:04:05.123456789Z stdout F "...), line...)
	}},
	{"syslog", func(b, line []byte) []byte { return append(append(b, "Nov 19 04:04:05 web1 nginx: "...), line...) }},
	{"Compose", func(b, line []byte) []byte { return append(append(b, "web-1  | "...), line...) }},
}

// compareWrapped measures what unwrapping costs: CPU of iikanji on the combined log in each
// wrapper, beside that on the plain log of the same round, per byte of the log and per line.
func compareWrapped(ctx context.Context, s *settings) error {
	lines := min(s.lines, 1_000_000)
	plain, size, err := s.generated(gen.Combined, lines)
	if err != nil {
		return err
	}
	all := []*contender{s.unpeered("plain", plain, size, lines)}
	for _, w := range wrappers {
		path, size, err := s.log(fmt.Sprintf("%s-%d.log", w.name, lines), func(out io.Writer) error { return wrapLines(out, plain, w.wrap) })
		if err != nil {
			return err
		}
		all = append(all, s.unpeered(w.name, path, size, lines))
	}
	for range s.rounds {
		for _, c := range all {
			if err := c.run(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("combined in wrappers: %d lines; CPU per byte and per line, median of rounds (least–most)\n", lines)
	for _, c := range all {
		var perByte []float64
		for i, t := range c.runs {
			perByte = append(perByte, t.cpu.Seconds()/float64(c.bytes)/(all[0].runs[i].cpu.Seconds()/float64(all[0].bytes)))
		}
		slices.Sort(perByte)
		m, scale := perByte[len(perByte)/2], float64(c.bytes)/float64(all[0].bytes)
		fmt.Printf("  %-8s %6.0f MB/CPU s   per byte %.2f × plain (%.2f–%.2f), per line %.2f ×\n", c.name,
			float64(c.bytes)/median(c.runs, func(t timing) float64 { return t.cpu.Seconds() })/1e6, m, perByte[0], perByte[len(perByte)-1], m*scale)
	}
	return nil
}

// unpeered is iikanji on a log, on one core.
func (s *settings) unpeered(name, path string, size int64, lines int) *contender {
	return &contender{name: name, cpu: s.cpu, log: path, bytes: size, lines: lines, cmd: []string{s.binary, "access", path}}
}

// wrapLines writes each line of a log in a wrapper.
func wrapLines(out io.Writer, path string, wrap func(b, line []byte) []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	in := bufio.NewScanner(f)
	var b []byte
	for in.Scan() {
		b = append(wrap(b[:0], in.Bytes()), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return w.Flush()
}
