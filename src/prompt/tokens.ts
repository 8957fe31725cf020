/**
 * How many tokens a text takes: an estimate that fits no tokenizer exactly, and that for what people and programs write is rather too high
 * than too low. Words by their length, digits one by one, signs by twos, other scripts by what they are known to cost.
 */

const LETTERS_PER_TOKEN = 3
const SIGNS_PER_TOKEN = 2
const BLANKS_PER_TOKEN = 4
/** What goes on for longer without a blank or a sign is a key, a digest, noise, for which no tokenizer has pieces: two letters of it are one. */
const LONGEST_WORD = 20
const MOST_CONSONANTS = 2
const MOST_SIGNS = 4

type Class = 'lower' | 'upper' | 'digit' | 'sign' | 'blank' | 'other'

/** Contract: more text never takes fewer tokens. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let last: Class = 'other'
  let run = 0
  let consonants = 0
  let unbroken = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const now = classOf(code)
    // `camelCase` is two words, `Word` is one.
    run = now === last || (last === 'upper' && now === 'lower' && run === 1) ? run + 1 : 1
    unbroken = isBreak(code, now) ? 0 : unbroken + 1
    consonants = run === 1 || VOWELS.has(code) ? 0 : consonants + 1
    switch (now) {
      case 'lower':
      case 'upper':
        if (consonants > MOST_CONSONANTS || beginsPiece(run, unbroken > LONGEST_WORD ? 2 : LETTERS_PER_TOKEN))
          tokens += 1
        break
      case 'digit':
        // It takes no blank along, as a word does.
        tokens += last === 'blank' ? 2 : 1
        break
      case 'sign':
        if (run > MOST_SIGNS || unbroken > LONGEST_WORD || beginsPiece(run, SIGNS_PER_TOKEN)) tokens += 1
        break
      case 'blank':
        tokens += blankCost(text, i, run)
        break
      case 'other':
        tokens += costOf(code)
    }
    last = now
  }
  return tokens
}

const beginsPiece = (run: number, length: number): boolean => run % length === 1

const codesOf = (letters: string): ReadonlySet<number> => new Set([...letters].map((letter) => letter.charCodeAt(0)))
const VOWELS = codesOf('aeiouyAEIOUY')
/** Signs that keys and encoded bytes are made of. */
const KEY_SIGNS = codesOf('+/=_-')

const isBreak = (code: number, now: Class): boolean => now === 'blank' || (now === 'sign' && !KEY_SIGNS.has(code))

function classOf(code: number): Class {
  if (code >= 97 && code <= 122) return 'lower'
  if (code >= 65 && code <= 90) return 'upper'
  if (code >= 48 && code <= 57) return 'digit'
  if (code === 32 || (code >= 9 && code <= 13)) return 'blank'
  return code < 0x80 ? 'sign' : 'other'
}

/** A single space belongs to the word behind it. */
function blankCost(text: string, at: number, run: number): number {
  const spaced = text.charCodeAt(at - run + 1) === 32
  if (run === 1) return spaced ? 0 : 1
  if (run === 2) return spaced ? 1 : 0
  return beginsPiece(run, BLANKS_PER_TOKEN) ? 1 : 0
}

/** By code unit; a pair of surrogates (an emoji, a rare character) makes four. */
function costOf(code: number): number {
  if (code < 0x250 || (code >= 0x370 && code < 0x530)) return 1
  return code < 0x800 || isSurrogate(code) || isEastAsian(code) ? 2 : 3
}

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

/** Chinese, Japanese and Korean, with their punctuation. */
const isEastAsian = (code: number): boolean =>
  (code >= 0x3000 && code <= 0x30ff) ||
  (code >= 0x3400 && code <= 0x4dbf) ||
  (code >= 0x4e00 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af) ||
  (code >= 0xff00 && code <= 0xffef)
