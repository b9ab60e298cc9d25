package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/tool"
)

type readInput struct {
	FilePath string `json:"file_path" jsonschema:"The file to read: absolute, or relative to the workspace."`
	Offset   int    `json:"offset,omitempty" minimum:"0" jsonschema:"The line to start with; the first is 1."`
	Limit    int    `json:"limit,omitempty" minimum:"1" jsonschema:"How many lines to read; 2000 unless given."`
}

const (
	readLines     = 2000
	readLineBytes = 2000
	readBytes     = 100_000
	sniffBytes    = 8000
)

func (w *workspace) read(ctx context.Context, in readInput) (tool.Result, error) {
	f, info, err := w.openRegular(in.FilePath)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, sniffBytes)
	head, err := r.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return tool.Failed("%v", w.explain(in.FilePath, err)), nil
	}
	if kind := binaryKind(head); kind != "" {
		return tool.Failed("%s is %s of %d bytes; only text can be read", in.FilePath, kind, info.Size()), nil
	}
	if len(head) == 0 {
		return tool.Result{Text: "[the file is empty]"}, nil
	}
	return numbered(ctx, r, in)
}

// numbered returns the lines asked for, each with its number.
func numbered(ctx context.Context, r *bufio.Reader, in readInput) (tool.Result, error) {
	first, limit := max(in.Offset, 1), in.Limit
	if limit == 0 {
		limit = readLines
	}
	var out strings.Builder
	cutLines := 0
	for number := 1; ; number++ {
		if number%1000 == 0 && ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		line, cut, err := readLine(r)
		if errors.Is(err, io.EOF) {
			if number <= first {
				return tool.Failed("offset %d is past the end: the file has %d lines", first, number-1), nil
			}
			break
		}
		if err != nil {
			return tool.Failed("%v", err), nil
		}
		if number < first {
			continue
		}
		if number-first >= limit || out.Len()+len(line) > readBytes {
			fmt.Fprintf(&out, "[cut: lines %d to %d are shown and more follow; read on with offset %d]\n", first, number-1, number)
			break
		}
		if cut {
			cutLines++
		}
		fmt.Fprintf(&out, "%6d\t%s\n", number, line)
	}
	if cutLines > 0 {
		fmt.Fprintf(&out, "[cut: %d lines are longer than %d bytes]\n", cutLines, readLineBytes)
	}
	return tool.Result{Text: out.String()}, nil
}

// readLine reads a line without its end, however long, and keeps the beginning.
func readLine(r *bufio.Reader) (line string, cut bool, err error) {
	var kept []byte
	for more := true; more; {
		var part []byte
		part, more, err = r.ReadLine()
		if err != nil && (!errors.Is(err, io.EOF) || kept == nil) {
			return "", false, err
		}
		kept = append(kept, part[:min(len(part), readLineBytes+1-len(kept))]...)
	}
	return valid(kept[:min(len(kept), readLineBytes)]), len(kept) > readLineBytes, nil
}

// valid makes text that may be cut in the middle of a character fit for JSON.
func valid(text []byte) string { return strings.ToValidUTF8(string(text), string(utf8.RuneError)) }

// binaryKind says what a file is that is not text, from its beginning.
func binaryKind(head []byte) string {
	kind := http.DetectContentType(head)
	switch {
	case strings.HasPrefix(kind, "image/") && !strings.Contains(kind, "svg"):
		return "an image (" + kind + ")"
	case bytes.IndexByte(head, 0) >= 0:
		return "a binary file (" + kind + ")"
	case kind == "application/pdf":
		return "a PDF"
	}
	return ""
}

// readWhole reads a text file of at most limit bytes.
func readWhole(f *os.File, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file is longer than %d bytes", limit)
	}
	return data, err
}
