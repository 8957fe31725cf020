/** Splits texts of any script into words, for search. */

const UNSPACED = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}]'
const WORD = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{M}\\p{N}_]--${UNSPACED}]+`, 'gv')
const IS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v')

/** Lower-cased words; in scripts without spaces, each pair of neighbouring characters. */
export function tokenize(text: string): string[] {
  return splitRuns(text).flatMap((run) => (IS_UNSPACED.test(run) ? characterPairs(run) : [run]))
}

/**
 * Like `tokenize`, for the text that is searched: also single characters, because a query may be a single character.
 */
export function tokenizeForIndex(text: string): string[] {
  return splitRuns(text).flatMap((run) =>
    IS_UNSPACED.test(run) ? [...new Set([...characterPairs(run), ...run])] : [run],
  )
}

const splitRuns = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(WORD) ?? []

function characterPairs(run: string): string[] {
  const characters = [...run]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
