package isucondition

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
)

// drawNoImage draws the icon of an ISU without an image: a pale chair on grey,
// without grain. files/NoImage.jpg is its output.
func drawNoImage() ([]byte, error) {
	c := draw.NewCanvas(2 * pictureSize)
	c.Rect(0, 0, c.Size, c.Size, draw.RGB(222, 222, 226))
	ch := draw.Chair{Seat: draw.RGB(190, 190, 196), Wood: draw.RGB(170, 170, 178), X: c.Size / 2, Y: c.Size * 58 / 100,
		W: 136, D: 76, Leg: 168, Back: 248, Thick: 30, Slats: 2}
	ch.Legs(c)
	ch.BackRest(c)
	ch.SeatTop(c)
	c.Line(draw.RGB(222, 222, 226), draw.At(96, 560), draw.At(560, 96), 48)
	c.Line(draw.RGB(150, 150, 158), draw.At(96, 544), draw.At(544, 96), 21)
	var b bytes.Buffer
	img := c.Picture(rand.New(rand.NewPCG(imageSeed, 1)), 0)
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 76}); err != nil {
		return nil, fmt.Errorf("encoding the default icon: %w", err)
	}
	return b.Bytes(), nil
}

func TestNoImage(t *testing.T) {
	drawn, err := drawNoImage()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("files/NoImage.jpg", drawn, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(drawn, webapp.MustRead("NoImage.jpg")) {
		t.Error("files/NoImage.jpg is not what is drawn; go test -run TestNoImage -update writes it")
	}
	if len(drawn) < 5000 || len(drawn) > 9000 {
		t.Errorf("the default icon has %d bytes, want about 7 KB", len(drawn))
	}
}
