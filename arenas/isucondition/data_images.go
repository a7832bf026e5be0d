package isucondition

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/draw"
)

const (
	imageSeed   = 11
	imageBases  = 14  // drawings, each used for several images of the pool
	pictureSize = 336 // pixels; a multiple of 16, the encoder's block size
	lowQuality  = 5
	highQuality = 99
)

// thePool draws the icons once per process, at first use.
var thePool = sync.OnceValues(drawPool)

// drawPool makes the icons of the pool: every drawing in many exposures, like
// photos of cheap cameras. The bytes are the same on every machine.
func drawPool() ([]Image, error) {
	r := rand.New(rand.NewPCG(imageSeed, 0))
	bases := make([]*image.YCbCr, imageBases)
	for i := range bases {
		bases[i] = draw.RandomChair(r, i, pictureSize).Picture(r, 7+r.IntN(9))
	}
	pool := make([]Image, Images)
	for i := range pool {
		picture := expose(bases[i%len(bases)], r)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: lowQuality + r.IntN(highQuality-lowQuality+1)}); err != nil {
			return nil, fmt.Errorf("encoding picture %d: %w", i, err)
		}
		pool[i] = newImage(b.Bytes())
	}
	return pool, nil
}

// expose varies brightness, contrast, gamma and saturation of a picture.
func expose(base *image.YCbCr, r *rand.Rand) *image.YCbCr {
	brightness := r.IntN(81) - 40
	contrast := 60 + r.IntN(91)
	gamma := float64(60+r.IntN(101)) / 100
	saturation := r.IntN(181)
	mirror := r.IntN(2) == 1

	var luma, chroma [256]uint8
	for v := range 256 {
		bent := int(math.Round(math.Pow(float64(v)/255, gamma) * 255))
		luma[v] = draw.Clamp((bent-128)*contrast/100 + 128 + brightness)
		chroma[v] = draw.Clamp((v-128)*saturation/100 + 128)
	}
	img := image.NewYCbCr(base.Rect, base.SubsampleRatio)
	remap(img.Y, base.Y, base.YStride, &luma, mirror)
	remap(img.Cb, base.Cb, base.CStride, &chroma, mirror)
	remap(img.Cr, base.Cr, base.CStride, &chroma, mirror)
	return img
}

// remap copies a plane through a table, optionally mirrored.
func remap(to, from []uint8, stride int, table *[256]uint8, mirror bool) {
	for start := 0; start < len(from); start += stride {
		for x := range stride {
			source := x
			if mirror {
				source = stride - 1 - x
			}
			to[start+x] = table[from[start+source]]
		}
	}
}
