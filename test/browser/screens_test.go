package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// gallery has runs of every form, one of which waits for a person.
func gallery(t *testing.T) *site {
	s := newSite(t, map[string]string{
		"script.yaml": script, "notes.txt": "first line\nsecond line\nthird line\n",
		"words.csv": "subject,body\nCharged twice in March,My card statement shows two payments.\nApp closes,Since the update it closes.\n",
	})
	if err := os.MkdirAll(filepath.Join(s.dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "src", "main.c"), []byte("// TODO\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.maker("hanoi", "--disks", "9", "--model", "sim/default?p=0.9&malformed=0.02&rivals=3", "-k", "3")
	s.maker("hanoi", "--disks", "5", "--model", "sim/default?p=0.6", "-k", "3", "--max-samples", "6")
	s.maker("solve", "Multiply 12345 by 67890", "--model", "sim/default?p=0.9", "-k", "4")
	s.maker("run", "Find the files with TODO comments in src, count them per file, and write a summary to summary.md.", "--model", "sim/default", "-k", "2", "--yes", "--approve", "none")
	s.maker("map", "words.csv", "--prompt", "Which queue? {{.subject}}: {{.body}}", "--one-of", "billing,bug,other", "--model", "sim/default?p=0.85", "--yes")
	s.maker("do", "Rewrite notes.txt for the page.", "--model", "sim/default?p=0.8&seed=3&script=script.yaml", "-k", "2", "--no-input")
	s.serve()
	s.ask("Sort: [3, 1, 2]", "Compute: 17 * 23", "Compute: 1200 + 34")
	return s
}

// ask puts questions to the gateway, as a program does.
func (s *site) ask(questions ...string) {
	s.t.Helper()
	out, err := s.command("token", "new", "--name", "ci", "--scope", "write").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, q := range questions {
		body, err := json.Marshal(map[string]any{"model": "maker/sim/default?p=0.7&k=3", "messages": []map[string]string{{"role": "user", "content": q}}})
		if err != nil {
			s.t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(s.t.Context(), "POST", "http://"+s.addr+"/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(out)))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
			s.t.Fatalf("%s: %s, %v", answer, res.Status, err)
		}
		res.Body.Close()
	}
}

// run is the address of the first run of a kind.
func (p *tab) run(kind string) string {
	p.t.Helper()
	p.at("#/")
	p.wait(`document.querySelectorAll('.runs li').length >= 7`)
	return p.get(fmt.Sprintf(`[...document.querySelectorAll('.runs li a')].map((a) => a.getAttribute('href')).findLast((h) => h.startsWith('#/runs/%s-'))`, kind))
}

// A view is a place of the page, and what there is once it is drawn.
type view struct{ name, hash, ready string }

// views are all those of a gallery.
func (p *tab) views() []view {
	p.t.Helper()
	hanoi, do, plan, tree, records := p.run("hanoi"), p.run("do"), p.run("run"), p.run("solve"), p.run("map")
	session := p.run("session")
	p.at(hanoi)
	p.wait(`document.querySelector('.rows a')`)
	closest := p.get(`document.querySelector('.rows a').getAttribute('href')`)
	return []view{
		{"list", "#/", `document.querySelectorAll('.runs li').length >= 7`},
		{"start", "#/start?kind=do", `document.querySelector('#set-model')`},
		{"run", hanoi, `document.querySelector('.rows a')`},
		{"step", closest, `document.querySelector('.rival')`},
		{"certificate", hanoi + "/certificate", `document.querySelector('.says li')`},
		{"settings", hanoi + "/settings", `document.querySelector('.body .block')`},
		{"log", hanoi + "/log", `document.querySelectorAll('.log li').length > 20`},
		{"question", do, `document.querySelector('.question .diff')`},
		{"plan", plan + "/shape", `document.querySelector('.graph .node')`},
		{"calls", plan + "/effects", `document.querySelector('.effect')`},
		{"tree", tree + "/shape", `document.querySelectorAll('.tree li').length > 4`},
		{"records", records + "/records", `document.querySelectorAll('tbody tr').length === 2`},
		{"session", session, `document.querySelector('.meta')`},
	}
}

// TestScreens looks at every view at three widths, dark and light: nothing is wider than the
// window, and there is something on it. MAKER_SCREENS names a folder for the pictures.
func TestScreens(t *testing.T) {
	p := gallery(t).open(1440)
	views := p.views()
	for _, width := range []int64{360, 820, 1440} {
		p.do(chromedp.EmulateViewport(width, 900))
		for _, v := range views {
			p.at(v.hash)
			p.wait(v.ready)
			if v.name == "step" { // it is in sight
				p.wait(`(() => { const at = document.querySelector('.stepview').getBoundingClientRect(); return at.top >= 0 && at.top < innerHeight / 2; })()`)
			}
			for _, scheme := range []string{"light", "dark"} {
				p.scheme(scheme)
				name := fmt.Sprintf("%s-%d-%s", v.name, width, scheme)
				p.fits(name)
				p.picture(name)
			}
		}
	}
}

// picture takes one, and fails the test if nothing is on it.
func (p *tab) picture(name string) {
	p.t.Helper()
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	colours := map[[4]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, a := img.At(x, y).RGBA()
			colours[[4]uint32{r, g, b, a}] = true
		}
	}
	if len(colours) < 20 {
		p.t.Errorf("%s has %d colours: there is nothing to be seen", name, len(colours))
	}
	if dir := os.Getenv("MAKER_SCREENS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}
