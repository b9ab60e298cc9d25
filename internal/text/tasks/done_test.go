package tasks

import "testing"

// TestDoneIsNotGuessed: what is marked as done is skipped, and nothing beside it is.
// An item counts as part of one that is checked only if the text shows it: by
// indentation, or by a number such as 1.1.
func TestDoneIsNotGuessed(t *testing.T) {
	for name, text := range map[string]string{
		"a bullet":                    "1. [x] Set it up.\n- Write the tests.",
		"a star":                      "1. [x] Set it up.\n* Write the tests.",
		"a dot":                       "1. [x] Set it up.\n• Write the tests.",
		"a dash":                      "1. [x] Set it up.\n– Write the tests.",
		"a letter":                    "1. [x] Set it up.\na) Write the tests.",
		"a Roman number":              "1. [x] Set it up.\ni. Write the tests.",
		"a capital letter":            "1. [x] Set it up.\nA) Write the tests.",
		"a letter, no stop":           "1. [x] Set it up\na) Write the tests.",
		"a Roman number, no stop":     "1. [x] Set it up\nii. Write the tests.",
		"a capital letter, no stop":   "1. [x] Set it up on the first machine that has room for the whole of it\nB. Write the tests.",
		"letters in brackets":         "1. [x] Set it up on the first machine that has room for the whole of it\n(iv) Write the tests.",
		"a Han number":                "1. [x] Set it up on the first machine that has room for the whole of it\n二、Write the tests.",
		"after a bracket":             "1) [x] Set it up.\n- Write the tests.",
		"after two brackets":          "(1) [x] Set it up.\n- Write the tests.",
		"after a step":                "Step 1: [x] Set it up.\n- Write the tests.",
		"after a circled number":      "① [x] Set it up.\n- Write the tests.",
		"after a bold number":         "**1.** [x] Set it up.\n- Write the tests.",
		"after a number in digits":    "١. [x] Set it up.\n- Write the tests.",
		"after an item struck out":    "1. ~~Set it up.~~\n- Write the tests.",
		"after a tick":                "1. [✓] Set it up.\n- Write the tests.",
		"a column to the right":       "1. [x] Set it up.\n - Write the tests.",
		"a column to the left":        " 1. [x] Set it up.\n- Write the tests.",
		"after several":               "1. [x] Set it up.\n2. [x] Build it.\n- Write the tests.",
		"all of them indented":        "   1. [x] Set it up.\n   - Write the tests.",
		"with windows line ends":      "1. [x] Set it up.\r\n- Write the tests.",
		"below a lead-in":             "1. [x] Set up:\n- Write the tests.",
		"a bullet two levels down":    "- Plan\n  1. [x] Set it up.\n  - Write the tests.",
		"another item on its line":    "1. [x] Set it up. 2. Write the tests.",
		"two more items on its line":  "1) [x] Set it up, 2) Write the tests and 3) run them.",
		"later items on its line":     "- Plan\n  4. [x] Set it up (5) Write the tests.",
		"a block of commands":         "- [x] Set it up.\n```sh\nmake tests\n```",
		"commands after a blank line": "- [x] Set it up.\n\n```sh\nmake tests\n```",
		"another number":              "1. [x] Set it up.\n2.1 Write the tests.",
		"another number, no stop":     "1. [x] Set it up\n2.1 Write the tests.",
		"a sentence":                  "- [x] Set it up.\nWrite the tests.",
		"a sentence in small letters": "- [x] Set it up.\nwrite the tests.",
		"a sentence after a long one": "- [x] Set it up on the first machine that has room for the whole of it.\nWrite the tests.",
		"a prompt":                    "1. [x] Set it up.\n$ make tests",
		"a number after a part":       "1. [x] Set it up.\n1.1 Make it.\n2.1 Write the tests.",
		"a letter after a part":       "1. [x] Set it up.\n1.1 Make it.\na) Write the tests.",
		"bold words after a part":     "1. [x] Set it up.\n1.1 Make it.\n**Write the tests.**",
		"a command after a part":      "1. [x] Set it up.\n1.1 Make it.\n`make tests`",
		"a sentence after a part":     "1. [x] Set it up.\n   - Make it\nWrite the tests.",
		"a quotation":                 "- [x] Set it up.\n> - Write the tests.",
		"a table":                     "- [x] Set it up.\n| Write the tests |",
		"a block without a language":  "- [x] Set it up.\n```\nWrite the tests.\n```",
	} {
		open := 0
		for _, task := range Split(text) {
			if !task.Done && task.Text != "Plan" {
				open++
			}
		}
		if open != 1 {
			t.Errorf("%s: Split(%q) = %+v, want one task that is not done", name, text, Split(text))
		}
	}
}

// TestDoneParents: what is shown to be part of something done is done.
func TestDoneParents(t *testing.T) {
	for name, text := range map[string]string{
		"indented":              "1. [x] Set it up.\n   - Write the tests.",
		"by two columns":        "1. [x] Set it up.\n  - Write the tests.",
		"by its number":         "1. [x] Set it up.\n1.1 Write the tests.",
		"by its stars":          "* [x] Set it up.\n** Write the tests.",
		"a paragraph of it":     "1. [x] Set it up.\n\n   Write the tests.",
		"a line of it":          "- [x] Set it\nup.",
		"commands of it":        "1. [x] Set it up.\n   ```sh\n   make tests\n   ```",
		"a number in it":        "1. [x] Upgrade to version 2.\n2. [x] Run all 3 tests.",
		"struck out as a whole": "1. ~~Set it up. 2. Write the tests.~~",
	} {
		for _, task := range Split(text) {
			if !task.Done {
				t.Errorf("%s: Split(%q) has %q to do, want all done", name, text, task.Text)
			}
		}
	}
}
