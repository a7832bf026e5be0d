package isucholar

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"mime/multipart"
)

// submissionPDF makes a PDF of two pages: text that is the submission's own, and a
// picture.
func submissionPDF(r *rand.Rand, course string, part int, student string) []byte {
	text := fmt.Sprintf("BT /F1 14 Tf 60 760 Td 20 TL (%s) Tj T* (class %d) Tj T* (%s) Tj", course, part, student)
	for i := range 5 {
		text += fmt.Sprintf(" T* (answer %d: %d) Tj", i+1, r.IntN(1e6))
	}
	text += " ET"
	picture := submissionImage()
	const show = "q 480 0 0 480 60 200 cm /I Do Q"
	objects := [][]byte{
		[]byte("<</Type/Catalog/Pages 2 0 R>>"),
		[]byte("<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 595 842]>>"),
		[]byte("<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<</Font<</F1 7 0 R>>>>>>"),
		[]byte("<</Type/Page/Parent 2 0 R/Contents 6 0 R/Resources<</XObject<</I 8 0 R>>>>>>"),
		fmt.Appendf(nil, "<</Length %d>>stream\n%s\nendstream", len(text), text),
		fmt.Appendf(nil, "<</Length %d>>stream\n%s\nendstream", len(show), show),
		[]byte("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"),
		append(fmt.Appendf(nil, "<</Type/XObject/Subtype/Image/Width 400/Height 400/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/Length %d>>stream\n",
			len(picture)), append(picture[:len(picture):len(picture)], "\nendstream"...)...),
	}
	var b bytes.Buffer
	b.Grow(len(picture) + 2048)
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj", i+1)
		b.Write(o)
		b.WriteString("endobj\n")
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// boundary separates the parts of an upload. No submission has it.
const boundary = "iikanji-isucholar-7f3a0c51d2e94b68"

// uploadBody wraps a file as the field "file" of a form.
func uploadBody(field, name string, pdf []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(pdf) + 512)
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(boundary); err != nil {
		panic("BUG: " + err.Error())
	}
	part, err := w.CreateFormFile(field, name)
	if err == nil {
		_, err = part.Write(pdf)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("BUG: writing to memory: " + err.Error())
	}
	return b.Bytes()
}

func fileOf(name string, pdf []byte) file { return file{name, crc32.ChecksumIEEE(pdf)} }
