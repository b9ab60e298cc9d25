// Package redflags finds the red flags that a name or a file stands for.
package redflags

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/redflag"
)

// Presets are the red flags that have a name.
var Presets = map[string]func() redflag.Config{
	"format":  redflag.Format,
	"default": redflag.Default,
	"strict":  redflag.Strict,
	"ask":     func() redflag.Config { return config.AskFlags(config.DefaultMaxOutput) },
	"cut":     config.CutFlags,
	"solve":   func() redflag.Config { return config.SolveFlags(config.DefaultMaxOutput) },
}

// Read returns the red flags that a preset's name or a file stands for.
func Read(name string, maxOutput int) (*redflag.Config, error) {
	var c redflag.Config
	if preset, ok := Presets[name]; ok {
		c = preset()
	} else if err := readFile(name, &c); err != nil {
		return nil, err
	}
	switch {
	case name == "solve": // its characters are bound to the tokens
		c = config.SolveFlags(maxOutput)
	case c.ExcessiveLength.On && c.ExcessiveLength.MaxTokens == 0, name == "format", name == "strict", name == "ask":
		c.ExcessiveLength.MaxTokens = int64(maxOutput)
	}
	return &c, c.Validate()
}

func readFile(path string, c *redflag.Config) error {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(path, "./\\") {
			return fmt.Errorf("%q is no file, and none of those that are built in; %s", path, nearest.Among(path, slices.Sorted(maps.Keys(Presets))))
		}
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
