/**
 * Estimates the tokens of a text without a tokenizer; usually too high rather than too low. Counts words by length,
 * digits singly, punctuation in pairs, other scripts by their known cost.
 */

const LETTERS_PER_TOKEN = 3
const SIGNS_PER_TOKEN = 2
const BLANKS_PER_TOKEN = 4
/** A longer stretch without a blank is a key or digest, which tokenizers split finely: two letters per token. */
const MAX_WORD = 20
const MAX_CONSONANTS = 2
const MAX_SIGNS = 4

/** Character classes, looked up by code for speed: every stored text is counted character by character. */
const LOWER = 0
const UPPER = 1
const DIGIT = 2
const SIGN = 3
const BLANK = 4
const OTHER = 5
const CLASS = 7
/** Flag, added to the class: the character is a vowel. */
const VOWEL = 8
/** Flag, added to the class: the character ends a stretch without a blank. */
const BREAK = 16

/** Punctuation inside keys and base64 does not end a stretch. */
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

/** Contract: appending to a text never lowers its estimate. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let previous = OTHER
  let run = 0
  let consonants = 0
  let unbroken = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const flags = code < ASCII ? (TABLE[code] ?? OTHER) : OTHER
    const kind = flags & CLASS
    // `camelCase` counts as two words, `Word` as one.
    run = kind === previous || (previous === UPPER && kind === LOWER && run === 1) ? run + 1 : 1
    unbroken = (flags & BREAK) > 0 ? 0 : unbroken + 1
    consonants = run === 1 || (flags & VOWEL) > 0 ? 0 : consonants + 1
    if (kind <= UPPER) {
      if (consonants > MAX_CONSONANTS || startsToken(run, unbroken > MAX_WORD ? 2 : LETTERS_PER_TOKEN)) tokens += 1
    } else if (kind === BLANK) tokens += blankCost(text, i, run)
    // Unlike a word, a number does not include the blank before it.
    else if (kind === DIGIT) tokens += previous === BLANK ? 2 : 1
    else if (kind === SIGN) {
      if (run > MAX_SIGNS || unbroken > MAX_WORD || startsToken(run, SIGNS_PER_TOKEN)) tokens += 1
    } else tokens += unitCost(code)
    previous = kind
  }
  return tokens
}

const startsToken = (run: number, length: number): boolean => run % length === 1

/** A single space belongs to the next word. */
function blankCost(text: string, at: number, run: number): number {
  const spaced = text.charCodeAt(at - run + 1) === 32
  if (run === 1) return spaced ? 0 : 1
  if (run === 2) return spaced ? 1 : 0
  return startsToken(run, BLANKS_PER_TOKEN) ? 1 : 0
}

/** Tokens of one UTF-16 unit outside ASCII. A surrogate pair (emoji, rare characters) has four in total. */
function unitCost(code: number): number {
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
