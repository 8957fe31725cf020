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

/** A number each, in a table by code: every text that is kept comes through here, letter by letter. */
const LOWER = 0
const UPPER = 1
const DIGIT = 2
const SIGN = 3
const BLANK = 4
const OTHER = 5
const CLASS = 7
/** Set beside the class. */
const VOWEL = 8
/** What ends an unbroken stretch. */
const BREAK = 16

/** Signs that keys and encoded bytes are made of end none. */
const KEY_SIGNS = '+/=_-'
const ASCII = 0x80
const TABLE = Uint8Array.from({ length: ASCII }, (_, code) => {
  const [kind, letter] = [classOf(code), String.fromCharCode(code)]
  const breaks = kind === BLANK || (kind === SIGN && !KEY_SIGNS.includes(letter))
  return kind + ('aeiouyAEIOUY'.includes(letter) ? VOWEL : 0) + (breaks ? BREAK : 0)
})

function classOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 65 && code <= 90) return UPPER
  if (code >= 48 && code <= 57) return DIGIT
  return code === 32 || (code >= 9 && code <= 13) ? BLANK : SIGN
}

/** Contract: more text never takes fewer tokens. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let last = OTHER
  let run = 0
  let consonants = 0
  let unbroken = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const found = code < ASCII ? (TABLE[code] ?? OTHER) : OTHER
    const now = found & CLASS
    // `camelCase` is two words, `Word` is one.
    run = now === last || (last === UPPER && now === LOWER && run === 1) ? run + 1 : 1
    unbroken = (found & BREAK) > 0 ? 0 : unbroken + 1
    consonants = run === 1 || (found & VOWEL) > 0 ? 0 : consonants + 1
    if (now <= UPPER) {
      if (consonants > MOST_CONSONANTS || beginsPiece(run, unbroken > LONGEST_WORD ? 2 : LETTERS_PER_TOKEN)) tokens += 1
    } else if (now === BLANK) tokens += blankCost(text, i, run)
    // It takes no blank along, as a word does.
    else if (now === DIGIT) tokens += last === BLANK ? 2 : 1
    else if (now === SIGN) {
      if (run > MOST_SIGNS || unbroken > LONGEST_WORD || beginsPiece(run, SIGNS_PER_TOKEN)) tokens += 1
    } else tokens += costOf(code)
    last = now
  }
  return tokens
}

const beginsPiece = (run: number, length: number): boolean => run % length === 1

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
