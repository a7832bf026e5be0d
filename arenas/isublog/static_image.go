package isublog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
)

const (
	titleWidth, titleHeight = 960, 120
	titleQuality            = 70
	titleGrain              = 6
)

// titleImage draws the picture at the top of each page: hills, a row of houses and
// the sun. A comment segment fills it up to the contest's size.
func titleImage() ([]byte, error) {
	c := draw.NewCanvas(2 * titleWidth)
	landscape(c)
	r := rand.New(rand.NewPCG(dataSeed, 4))
	img := c.Picture(r, titleGrain).SubImage(image.Rect(0, 0, titleWidth, titleHeight))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: titleQuality}); err != nil {
		return nil, fmt.Errorf("encoding the title image: %w", err)
	}
	return filled(b.Bytes(), titleBytes)
}

// landscape draws in the upper part of a canvas that is as wide as the picture.
func landscape(c *draw.Canvas) {
	const width, height = 2 * titleWidth, 2 * titleHeight
	c.Fade(0, height, draw.RGB(120, 180, 230), draw.RGB(250, 240, 210))
	c.Ellipse(draw.RGB(255, 214, 90), draw.At(width-220, 70), 46, 46)
	for i := range 6 {
		left := i*380 - 160
		c.Polygon(draw.RGB(96, 150, 96).Shade(80+8*i), draw.At(left, height), draw.At(left+300, 80+20*(i%3)), draw.At(left+640, height))
	}
	for i := range 14 {
		x := 60 + i*132
		wall := draw.RGB(230, 220, 200).Shade(85 + i)
		c.Rect(x, 170, x+76, height, wall)
		c.Polygon(draw.RGB(170, 80, 60).Shade(80+3*i), draw.At(x-12, 172), draw.At(x+38, 128), draw.At(x+88, 172))
		c.Rect(x+28, 194, x+48, height, draw.RGB(100, 70, 50))
	}
}

// filled inserts a comment segment behind the first marker of a JPEG, so that it
// has a size (ISO/IEC 10918-1, B.2.4.5).
func filled(jpg []byte, size int) ([]byte, error) {
	const marker, length = 2, 2
	room := size - len(jpg) - marker
	if room < length || room > 1<<16-1 {
		return nil, fmt.Errorf("filling the title image: %d bytes cannot become %d", len(jpg), size)
	}
	out := append([]byte{}, jpg[:2]...)
	out = append(out, 0xff, 0xfe)
	out = binary.BigEndian.AppendUint16(out, uint16(room))
	out = append(out, bytes.Repeat([]byte{' '}, room-length)...)
	return append(out, jpg[2:]...), nil
}
