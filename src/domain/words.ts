/** The words of a text, in any script, for whoever looks something up by them. */

const UNSPACED = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}]'
const WORD = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{M}\\p{N}_]--${UNSPACED}]+`, 'gv')
const IS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v')

/** Lower-cased words; where a script puts no space between them, each pair of neighbouring characters. */
export function wordsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => (IS_UNSPACED.test(run) ? pairs(run) : [run]))
}

/** The same for what is looked through: with each character by itself, too, because a question may be only one. */
export function indexedWordsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => (IS_UNSPACED.test(run) ? [...new Set([...pairs(run), ...run])] : [run]))
}

const runsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(WORD) ?? []

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
