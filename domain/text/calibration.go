package text

import "github.com/maker-mdap/maker/domain"

// Calibration returns small problems of many kinds, the same ones in the same
// order every time. The last ones have no known solution: voters can only be
// compared with each other on them.
func (Adapter) Calibration() []domain.Trial {
	return []domain.Trial{
		{Problem: "Sort these numbers in ascending order: [37, 5, 81, 12, 64]. Answer with a list.", Solution: "[5, 12, 37, 64, 81]"},
		{Problem: "Write the word \"planet\" backwards. Answer with the word only.", Solution: "tenalp"},
		{Problem: "How many letters does the word \"committee\" have? Answer with a number only.", Solution: "9"},
		{Problem: "Merge these sorted lists into one sorted list: [3, 9, 20] and [1, 9, 14, 25].", Solution: "[1, 3, 9, 9, 14, 20, 25]"},
		{Problem: "Which month comes three months after November? Answer with its name only.", Solution: "February"},
		{Problem: "What is the largest number of this list: 408, 84, 480, 48? Answer with the number only.", Solution: "480"},
		{Problem: "Put these words in alphabetical order, with commas between them: pear, fig, apple, plum.", Solution: "apple, fig, pear, plum"},
		{Problem: "All bloops are razzes, and all razzes are lazzes. Are all bloops lazzes? Answer yes or no.", Solution: "yes"},
		{Problem: "Remove every vowel (a, e, i, o, u) from the word \"elephant\". Answer with what is left.", Solution: "lphnt"},
		{Problem: "What is the next number: 3, 6, 12, 24? Answer with the number only.", Solution: "48"},
		{Problem: "Tom is older than Ann, and Ann is older than Bea. Who is the youngest? Answer with the name only.", Solution: "Bea"},
		{Problem: "Take the last letter of each word and put them together: red sun moon. Answer with the letters only.", Solution: "dnn"},
		{Problem: "Name a colour of the rainbow that begins with the letter o. Answer with one word."},
		{Problem: "In one word, what do a violin, a trumpet and a drum have in common?"},
		{Problem: "Give an antonym of \"ancient\". Answer with one word."},
	}
}
