package slowlog

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

func blockOf(log []byte) lines.Block { return lines.Block{Data: log} }

func BenchmarkParse(b *testing.B) {
	log := []byte(strings.Repeat(entry(1, 10, "SELECT `id`, `jia_isu_uuid`, `timestamp` FROM `isu_condition` WHERE `jia_isu_uuid` = '0694e4d7-dfce-4aec-b7ca-887ac42cfb8f' AND `timestamp` < '2021-08-08 12:00:00' ORDER BY `timestamp` DESC LIMIT 20")+
		entry(2, 10, "SELECT * FROM users WHERE id = 123"), 300))
	f := newCollector(Options{})
	f.begin("x", formatMariaDB)
	p, bt := new(parser), new(batch)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		blk := blockOf(log)
		bt.parse(&blk, p, false)
		if len(bt.events) != 600 || len(bt.bad) != 0 {
			b.Fatal("entries lost")
		}
		f.add(bt)
	}
}
