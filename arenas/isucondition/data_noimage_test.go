package isucondition

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"testing"
)

// drawNoImage draws the icon of an ISU without one: a pale chair on grey, without
// grain. files/NoImage.jpg is its result.
func drawNoImage() ([]byte, error) {
	c := newCanvas(2 * pictureSize)
	c.rect(0, 0, c.size, c.size, ink{222, 222, 226})
	ch := sketch{seat: ink{190, 190, 196}, wood: ink{170, 170, 178}, x: c.size / 2, y: c.size * 58 / 100,
		w: 136, d: 76, leg: 168, back: 248, thick: 30, slats: 2}
	ch.drawLegs(c)
	ch.drawBack(c)
	ch.drawSeat(c)
	c.line(ink{222, 222, 226}, point{96, 560}, point{560, 96}, 48)
	c.line(ink{150, 150, 158}, point{96, 544}, point{544, 96}, 21)
	var b bytes.Buffer
	img := c.picture(rand.New(rand.NewPCG(imageSeed, 1)), 0)
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
	} else if !bytes.Equal(drawn, mustRead("NoImage.jpg")) {
		t.Error("files/NoImage.jpg is not what is drawn; go test -run TestNoImage -update writes it")
	}
	if len(drawn) < 5000 || len(drawn) > 9000 {
		t.Errorf("the default icon has %d bytes, want about 7 KB", len(drawn))
	}
}
