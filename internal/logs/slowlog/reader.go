package slowlog

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// A blockReader reads logs of one format block by block.
type blockReader struct {
	boundary lines.Boundary
	// newParse returns a function that fills a batch from a block. Each worker
	// has its own.
	newParse func() func(*batch, *lines.Block)
}

// readerOf returns the reader of a format.
func (c *collector) readerOf(format string) blockReader {
	fold := c.opt.FoldTables
	switch format {
	case formatTrace:
		return blockReader{lines.Lines, func() func(*batch, *lines.Block) {
			fp := &Fingerprinter{Dialect: SQLite, FoldTables: fold}
			return func(b *batch, blk *lines.Block) { b.parseTraces(blk, fp) }
		}}
	case formatGeneral:
		return blockReader{generalBoundary, func() func(*batch, *lines.Block) {
			p := &parser{fp: Fingerprinter{FoldTables: fold}}
			return func(b *batch, blk *lines.Block) { b.parseGeneral(blk, p) }
		}}
	case formatPostgres:
		return postgresReader(postgresBoundary, func() pgScanner { return stderrScanner{} }, fold)
	case formatCSVLog:
		return postgresReader(csvBoundary, func() pgScanner { return new(csvScanner) }, fold)
	case formatJSONLog:
		return postgresReader(lines.Lines, func() pgScanner { return jsonScanner{} }, fold)
	}
	return blockReader{boundary, func() func(*batch, *lines.Block) {
		p := &parser{fp: Fingerprinter{FoldTables: fold}}
		return func(b *batch, blk *lines.Block) { b.parse(blk, p, blk.Offset == 0) }
	}}
}

// postgresReader returns the reader of a format of PostgreSQL.
func postgresReader(boundary lines.Boundary, newScanner func() pgScanner, foldTables bool) blockReader {
	return blockReader{boundary, func() func(*batch, *lines.Block) {
		s, fp := newScanner(), &Fingerprinter{Dialect: PostgreSQL, FoldTables: foldTables}
		return func(b *batch, blk *lines.Block) { b.parsePostgres(blk, s, fp) }
	}}
}

// begin starts the next file. It ends all threads, because another file may come
// from another server.
func (c *collector) begin(name, format string) {
	c.files = append(c.files, name)
	c.file = len(c.files) - 1
	if !contains(c.formats, format) {
		c.formats = append(c.formats, format)
	}
	c.lines, c.tail, c.db = 0, 0, nil
	c.threads.reset()
	c.fp.Dialect, c.durations, c.logins, c.generalAt, c.tracing = MySQL, nil, nil, 0, false
	switch format {
	case formatTrace:
		c.fp.Dialect, c.tracing = SQLite, true
	case formatGeneral:
		c.logins = map[uint64]*login{}
	case formatPostgres, formatCSVLog, formatJSONLog:
		c.fp.Dialect, c.durations = PostgreSQL, newDurations(c)
	}
}

// read reads one log.
func (c *collector) read(ctx context.Context, in *lines.Input, format string) error {
	c.begin(in.Name, format)
	if w := in.Wrapper(); w != "" {
		c.carried = append(c.carried, fmt.Sprintf("%s: removed %s", in.Name, w))
	}
	if isDigests(format) {
		return c.savedDigests(ctx, in, format)
	}
	if err := c.blocks(ctx, in, c.readerOf(format)); err != nil {
		return err
	}
	if c.durations != nil {
		c.durations.flushAll()
	}
	if c.cutEnd {
		c.edges++
	}
	if err := in.Failed(); err != nil {
		c.cutOff = append(c.cutOff, err.Error())
	}
	return nil
}

// maxStatement is the longest entry that is read, in bytes.
const maxStatement = 16 << 20

// blocks parses the blocks of a log in parallel and collects them in order.
func (c *collector) blocks(ctx context.Context, in *lines.Input, reader blockReader) error {
	opt := lines.Options{Workers: c.opt.Workers, BlockSize: c.opt.BlockSize, MaxRecord: maxStatement, Boundary: reader.boundary, Partial: true}
	s := newSequencer(c.add)
	err := lines.NewReader([]*lines.Input{in}, opt).Run(ctx, func(int) lines.Work {
		parse, b := reader.newParse(), new(batch)
		return func(blk *lines.Block) error {
			n := len(blk.Data) // blk must not be used after put
			parse(b, blk)
			b = s.put(b)
			if c.opt.Done != nil {
				c.opt.Done.Add(int64(n))
			}
			return nil
		}
	})
	if err == nil && len(s.waiting) > 0 {
		panic(fmt.Sprintf("BUG: %d blocks of %s are missing", len(s.waiting), in.Name))
	}
	return err
}
