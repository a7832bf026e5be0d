package isuumo

import (
	"bytes"
	"fmt"
	"image/png"
	"math/rand/v2"
	"path"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

const (
	imageSeed   = 10
	imageBases  = 3 // drawings of each table, each used for a third of its thumbnails
	pictureSize = 336
)

// writeImages writes the thumbnails: drawings with the name of the file behind
// their end, so that no two files are equal.
func writeImages(public string, names []string, drawing func(r *rand.Rand, number int) *draw.Canvas) error {
	r := rand.New(rand.NewPCG(imageSeed, uint64(len(names[0]))))
	bases := make([][]byte, imageBases)
	for i := range bases {
		var b bytes.Buffer
		if err := png.Encode(&b, drawing(r, i).Picture(r, 0)); err != nil {
			return fmt.Errorf("encoding picture %d: %w", i, err)
		}
		bases[i] = b.Bytes()
	}
	for i, name := range names {
		base := bases[i%imageBases]
		body := append(base[:len(base):len(base)], path.Base(name)...)
		if err := files.WriteBytes(filepath.Join(public, filepath.FromSlash(name)), body); err != nil {
			return err
		}
	}
	return nil
}

func drawChair(r *rand.Rand, number int) *draw.Canvas {
	return draw.RandomChair(r, number+1, pictureSize)
}

// drawHouse draws a house with a gable roof, a block of flats, or a storehouse.
func drawHouse(r *rand.Rand, number int) *draw.Canvas {
	c := draw.NewCanvas(2 * pictureSize)
	c.Fade(0, 480, draw.RGB(150, 200, 232), draw.RGB(226, 240, 246))
	c.Fade(480, c.Size, draw.RGB(150, 180, 120), draw.RGB(110, 146, 92))
	for range 3 {
		x, y := r.IntN(c.Size), 60+r.IntN(120)
		c.Ellipse(draw.RGB(250, 252, 253), draw.At(x, y), 60, 20)
		c.Ellipse(draw.RGB(250, 252, 253), draw.At(x+40, y-14), 40, 20)
	}
	switch number {
	case 0:
		drawGabled(c)
	case 1:
		drawFlats(c)
	default:
		drawStorehouse(c)
	}
	return c
}

var (
	houseWall = draw.RGB(240, 230, 208)
	houseRoof = draw.RGB(150, 74, 56)
	houseDoor = draw.RGB(96, 62, 42)
	glass     = draw.RGB(140, 178, 200)
)

func drawGabled(c *draw.Canvas) {
	c.Rect(150, 280, 530, 560, houseWall)
	c.Polygon(houseRoof, draw.At(340, 120), draw.At(580, 290), draw.At(100, 290))
	c.Rect(290, 400, 390, 560, houseDoor)
	c.Ellipse(draw.RGB(232, 200, 96), draw.At(376, 484), 6, 6)
	for _, x := range []int{180, 420} {
		drawWindow(c, x, 350, 80, 80)
	}
	c.Ellipse(glass, draw.At(340, 220), 32, 32)
}

func drawFlats(c *draw.Canvas) {
	c.Rect(180, 90, 500, 570, draw.RGB(206, 212, 218))
	c.Rect(170, 76, 510, 100, draw.RGB(150, 158, 166))
	for y := 130; y < 460; y += 110 {
		for _, x := range []int{205, 300, 395} {
			drawWindow(c, x, y, 76, 60)
			c.Rect(x-8, y+44, x+84, y+76, draw.RGB(170, 178, 186))
		}
	}
	c.Rect(300, 470, 380, 570, houseDoor)
}

func drawStorehouse(c *draw.Canvas) {
	c.Rect(170, 240, 510, 460, draw.RGB(250, 248, 242))
	c.Rect(170, 460, 510, 570, draw.RGB(70, 74, 80))
	c.Polygon(draw.RGB(60, 64, 72), draw.At(220, 150), draw.At(460, 150), draw.At(560, 250), draw.At(120, 250))
	c.Rect(280, 420, 400, 570, houseDoor)
	for y := 430; y < 560; y += 26 {
		c.Rect(280, y, 400, y+6, houseDoor.Shade(130))
	}
	drawWindow(c, 310, 300, 60, 60)
}

func drawWindow(c *draw.Canvas, x, y, w, h int) {
	c.Rect(x-6, y-6, x+w+6, y+h+6, draw.RGB(250, 250, 248))
	c.Rect(x, y, x+w, y+h, glass)
	c.Rect(x+w/2-3, y, x+w/2+3, y+h, draw.RGB(250, 250, 248))
}
