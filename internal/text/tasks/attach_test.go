package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func describeAttachments(list []Attachment) []string {
	var out []string
	for _, a := range list {
		out = append(out, describeAttachment(a))
	}
	return out
}

func TestAttachments(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		// addresses
		{"Read https://example.com/spec.pdf.", []string{"url https://example.com/spec.pdf"}},
		{"Read https://example.com, then go on", []string{"url https://example.com"}},
		{"(see http://a.b/c)", []string{"url http://a.b/c"}},
		{"https://en.wikipedia.org/wiki/Go_(game).", []string{"url https://en.wikipedia.org/wiki/Go_(game)"}},
		{"<https://example.com/a?b=c#d>", []string{"url https://example.com/a?b=c#d"}},
		{"**https://example.com/a**", []string{"url https://example.com/a"}},
		{`"https://example.com/a"`, []string{"url https://example.com/a"}},
		{"www.example.com/a is down", []string{"url www.example.com/a"}},
		{"ftp://x.y/z and HTTPS://x.y/z", []string{"url ftp://x.y/z", "url HTTPS://x.y/z"}},
		{"postgres://db/x, `redis://y/0` and [git](git://z/a.git)", nil},
		{"file:///tmp/a.txt", []string{"url file:///tmp/a.txt"}},
		{"请看https://example.com/说明。", []string{"url https://example.com/说明"}},
		{"example.com/spec.pdf is the spec", []string{"url example.com/spec.pdf"}},
		{"`https://example.com/a`", []string{"url https://example.com/a"}},
		{"https://a.b/c and again https://a.b/c", []string{"url https://a.b/c"}},
		{"https://a.b/x.png?size=2", []string{"image https://a.b/x.png?size=2"}},
		{"http://localhost:8080/api!", []string{"url http://localhost:8080/api"}},

		// links
		{"Read [the spec](https://example.com/s).", []string{"url https://example.com/s (the spec)"}},
		{"Read [the spec](docs/spec.md \"title\").", []string{"file docs/spec.md (the spec)"}},
		{"![a plan](img/plan.png)", []string{"image img/plan.png (a plan)"}},
		{"![a plan](https://a.b/plan)", []string{"image https://a.b/plan (a plan)"}},
		{"![](x.svg)", []string{"image x.svg"}},
		{"[a](<my file.txt>)", []string{"file my file.txt (a)"}},
		{"[Go](https://en.wikipedia.org/wiki/Go_(game)) it", []string{"url https://en.wikipedia.org/wiki/Go_(game) (Go)"}},
		{"[top](#top) and [mail](mailto:a@b.c)", nil},
		{"`[a](https://b.c)` is how links look", nil},
		{"[`code`](a.go) b", []string{"file a.go (code)"}},
		{"[broken](", nil},
		{"https://a.b/c and [label](https://a.b/c)", []string{"url https://a.b/c (label)"}},

		// pictures
		{"Use logo.png and photo.JPG", []string{"image logo.png", "image photo.JPG"}},
		{"Look at ./shots/1.webp", []string{"image ./shots/1.webp"}},

		// paths
		{"Edit main.go, go.mod and docs/a.b.md.", []string{"file main.go", "file go.mod", "file docs/a.b.md"}},
		{"Read /etc/hosts and /var/log/syslog", []string{"file /etc/hosts", "file /var/log/syslog"}},
		{"Read ~/notes.txt, ~bob/x and ../up/there", []string{"file ~/notes.txt", "file ~bob/x", "file ../up/there"}},
		{`Open C:\Users\me\a.txt and D:/b.csv`, []string{`file C:\Users\me\a.txt`, "file D:/b.csv"}},
		{`Open \\server\share\a.txt or src\main.c`, []string{`file \\server\share\a.txt`, `file src\main.c`}},
		{`Read "/home/me/My Files/a b.pdf" now`, []string{"file /home/me/My Files/a b.pdf"}},
		{"Read 'data.csv' and (other.csv)", []string{"file data.csv", "file other.csv"}},
		{"Read `docs/spec.md` first", []string{"file docs/spec.md"}},
		{"Look into src/ and a/b/", []string{"file src/", "file a/b/"}},
		{"Fix the Makefile and .env", []string{"file Makefile", "file .env"}},
		{"Unpack foo-1.2.3.tar.gz", []string{"file foo-1.2.3.tar.gz"}},
		{"Look at file.txt: it is long", []string{"file file.txt"}},
		{"阅读docs/spec.md，然后", []string{"file docs/spec.md"}},
		{"Lies résumé.pdf", []string{"file résumé.pdf"}},
		{"Read 報告.pdf", []string{"file 報告.pdf"}},

		// what is made
		{"Write the result to out.txt", []string{"file out.txt to be made"}},
		{"Create a new file called a/b.go", []string{"file a/b.go to be made"}},
		{"Save it as report.md and read data.csv", []string{"file report.md to be made", "file data.csv"}},
		{"Write a report from data.csv to out.md", []string{"file data.csv", "file out.md to be made"}},
		{"Write tests for login.go", []string{"file login.go"}},
		{"Add login to main.go, according to spec.md", []string{"file main.go", "file spec.md"}},
		{"Convert a.csv to b.json", []string{"file a.csv", "file b.json to be made"}},

		// none
		{"Use node.js, Vue.js and ASP.NET, e.g. v1.2.3 or 2.0", nil},
		{"Add GET /users and POST /api/login", nil},
		{"Ask and/or tell he/she, client/server, TCP/IP", nil},
		{"Mail bob@example.com, see example.com", nil},
		{"Run `cat a.txt | wc` and `foo(b.go)`", nil},
		{"$ cat notes.txt", nil},
		{"```sh\ncat notes.txt https://a.b/c\n```", nil},
		{"Delete *.go and ./... and a/**/b.go", nil},
		{"The end.Then go on.Next", nil},
		{"key=value.txt and --file=a.txt", nil},
		{"It costs $5.00/month, 1/2 of 3.14", nil},
		{"...", nil},
		{"", nil},
		{"://", nil},
		{"https://", nil},
		{"Signed, J.C and A.C", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, describeAttachments(Attachments(test.text))); diff != "" {
			t.Errorf("Attachments(%q): -want +got\n%s", test.text, diff)
		}
	}
	if len(tests) < 40 {
		t.Errorf("%d cases, want at least 40", len(tests))
	}
}

func TestNewAttachment(t *testing.T) {
	tests := []struct {
		ref, label string
		want       Attachment
	}{
		{"a/b.txt", "", Attachment{File, "b.txt", "a/b.txt", false}},
		{"a/b.txt", "notes", Attachment{File, "notes", "a/b.txt", false}},
		{"https://a.b/c/?d=e", "", Attachment{URL, "c", "https://a.b/c/?d=e", false}},
		{"https://a.b", "", Attachment{URL, "a.b", "https://a.b", false}},
		{"x.PNG", "", Attachment{Image, "x.PNG", "x.PNG", false}},
		{"data:image/png;base64,AAAA", "dot", Attachment{Image, "dot", "data:image/png;base64,AAAA", false}},
		{"README", "", Attachment{File, "README", "README", false}},
	}
	for _, test := range tests {
		if got := NewAttachment(test.ref, test.label); got != test.want {
			t.Errorf("NewAttachment(%q, %q) = %+v, want %+v", test.ref, test.label, got, test.want)
		}
	}
}

func FuzzAttachments(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Add("[a](b (c) \"d\")![](e.png) <https://x.y/z> \"~/a b.txt\" `x.go` C:\\a\\b")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		plain := valid(text)
		for _, a := range Attachments(text) {
			if a.Ref == "" || a.Label == "" || seen[a.Ref] {
				t.Errorf("Attachments(%q) has %+v, want a reference and a label, once", text, a)
			}
			seen[a.Ref] = true
			if !strings.Contains(plain, a.Ref) {
				t.Errorf("Attachments(%q) has %q, which is not in the text", text, a.Ref)
			}
			if a.Kind != URL && a.Kind != Image && a.Kind != File {
				t.Errorf("Attachments(%q) has kind %q", text, a.Kind)
			}
		}
	})
}
