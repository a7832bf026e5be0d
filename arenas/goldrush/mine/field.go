package mine

import "math/bits"

// block is the side of the squares whose treasures are counted, in cells.
const block = 64

// A field is the ground: treasures that are not dug out, and how deep each cell was dug. The
// index of a cell is x + X·y, so that a strip along x is one piece of memory.
type field struct {
	size Size
	at   []uint16 // by cell: bit d-1 is a treasure at depth d
	dug  []uint8  // by cell: the depth that was dug
	// Counts of treasures, for the exploration of large areas: of each row in pieces of
	// block cells, and of squares of block cells.
	pieces  []int32
	squares []int32
	wide    int // pieces of a row
}

func newField(s Size) *field {
	wide := (s.X + block - 1) / block
	high := (s.Y + block - 1) / block
	return &field{size: s, at: make([]uint16, s.X*s.Y), dug: make([]uint8, s.X*s.Y),
		pieces: make([]int32, wide*s.Y), squares: make([]int32, wide*high), wide: wide}
}

// put hides a treasure. It returns false if there is one already.
func (f *field) put(x, y, depth int) bool {
	i, bit := x+f.size.X*y, uint16(1)<<(depth-1)
	if f.at[i]&bit != 0 {
		return false
	}
	f.at[i] |= bit
	f.count(x, y, 1)
	return true
}

// count adds n treasures to what is counted around a cell.
func (f *field) count(x, y int, n int32) {
	f.pieces[y*f.wide+x/block] += n
	f.squares[y/block*f.wide+x/block] += n
}

// inside reports whether an area is in the field.
func (f *field) inside(x, y, wide, high int) bool {
	return x >= 0 && y >= 0 && wide >= 1 && high >= 1 && x <= f.size.X-wide && y <= f.size.Y-high
}

// explore counts the treasures of an area that are not dug out. The area is inside.
func (f *field) explore(x, y, wide, high int) (n int) {
	for row := y; row < y+high; {
		rows := 1
		if row%block == 0 && row+block <= y+high {
			rows = block
		}
		n += f.strip(x, row, wide, rows)
		row += rows
	}
	return n
}

// strip counts in one row, or in block rows that are those of squares.
func (f *field) strip(x, y, wide, rows int) (n int) {
	end := x + wide
	from, to := (x+block-1)/block, end/block // whole pieces
	if from >= to {
		return f.cells(x, end, y, rows)
	}
	n = f.cells(x, from*block, y, rows) + f.cells(to*block, end, y, rows)
	counts := f.pieces[y*f.wide:]
	if rows == block {
		counts = f.squares[y/block*f.wide:]
	}
	for _, c := range counts[from:to] {
		n += int(c)
	}
	return n
}

// cells counts cell by cell.
func (f *field) cells(from, to, y, rows int) (n int) {
	for ; rows > 0; rows-- {
		for _, levels := range f.at[f.size.X*y+from : f.size.X*y+to] {
			n += bits.OnesCount16(levels)
		}
		y++
	}
	return n
}

// dig digs a cell at the depth below the one that was dug. It reports whether there was a
// treasure.
func (f *field) dig(x, y, depth int) bool {
	i, bit := x+f.size.X*y, uint16(1)<<(depth-1)
	f.dug[i] = uint8(depth)
	if f.at[i]&bit == 0 {
		return false
	}
	f.at[i] &^= bit
	f.count(x, y, -1)
	return true
}

// clear digs a field as an earlier game did; what was dug out is gone.
func (f *field) clear(dug []uint8) {
	for i, depth := range dug {
		for d := 1; d <= int(depth); d++ {
			f.dig(i%f.size.X, i/f.size.X, d)
		}
	}
}
