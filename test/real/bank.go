package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/model"
)

// A sample is one answer of a model in the bank: a line of JSON.
type sample struct {
	question
	Prompt string `json:"prompt"` // the first 16 digits of the prompt's hash
	Text   string `json:"text"`   // as the model wrote it
	Stop   string `json:"stop"`
	In     int64  `json:"in"` // tokens
	Out    int64  `json:"out"`

	// Calls are the tools that the model wants called, if it was offered any.
	Calls []model.ToolCall `json:"calls,omitempty"`
}

// A question says what was asked, and which of its samples this is.
type question struct {
	Model       string  `json:"model"`
	Family      string  `json:"family"`
	Item        string  `json:"item"`
	Wording     int     `json:"wording"`
	Examples    int     `json:"examples"`
	Temperature float64 `json:"temperature"`
	Sample      int     `json:"sample"`
}

// A bank is what models answered.
type bank map[question]*sample

// readBank reads the files of a folder, those that are compressed too.
func readBank(folder string) (bank, error) {
	plain, _ := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	packed, _ := filepath.Glob(filepath.Join(folder, "*.jsonl.gz"))
	files := slices.Concat(plain, packed)
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no bank in %s", folder)
	}
	b := bank{}
	for _, file := range files {
		if err := b.readFile(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return b, nil
}

func (b bank) readFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if !strings.HasSuffix(name, ".gz") {
		return b.read(file)
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	return b.read(unpacked)
}

// read adds the lines of a file. A last line without an end was cut by a kill and
// does not count; every other line has to be whole, and the first of its question.
func (b bank) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var s sample
		if err := strictly(line, &s); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if s.Model == "" || s.Family == "" || s.Item == "" {
			return fmt.Errorf("line %d does not say what it answers", n)
		}
		if b[s.question] != nil {
			return fmt.Errorf("line %d answers %+v again", n, s.question)
		}
		b[s.question] = &s
	}
}

// An appender writes samples to the end of a file of the bank.
type appender struct{ file *os.File }

// openBank opens a file of the bank to go on with it, and reads what it has. What a
// kill left of a line is cut off.
func openBank(name string) (*appender, bank, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	b := bank{}
	err = func() error {
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		if err := b.read(bytes.NewReader(data)); err != nil {
			return err
		}
		end := int64(bytes.LastIndexByte(data, '\n') + 1)
		if err := file.Truncate(end); err != nil {
			return err
		}
		_, err = file.Seek(end, io.SeekStart)
		return err
	}()
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return &appender{file}, b, nil
}

// append writes one sample, in one write, so that a kill leaves at most one line
// that is not whole.
func (a *appender) append(s *sample) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = a.file.Write(append(line, '\n'))
	return err
}

func (a *appender) close() error { return a.file.Close() }
